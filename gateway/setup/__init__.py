"""What sets up a model and bots: it tries them, and is the one place that writes settings.

providers     the model servers that can be found
model_choice  a model that somebody chooses, and one call that it answers
trials        what a model or a platform says of new values, with the remedies
changes       what will be written: shown as a difference, then written at once
for_one_server  what is kept for the model's server, and would be sent to another one
settings_desk  tries and saves what the owner of a running gateway sets, and puts it into use
page_setup    the button of the page that sets up a model
"""
