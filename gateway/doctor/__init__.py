"""`tapeway doctor`: checks of an instance, their known troubles, and the report that lists them.

`examination` runs the checks of the folder `checks` side by side, and `troubles` has the texts. The
checks of the platforms are in `channels/NAME/checkup.py`.
"""
