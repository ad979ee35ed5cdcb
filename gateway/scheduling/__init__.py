"""Scheduling: decides which question runs when, and notifies chats about unanswered ones."""
