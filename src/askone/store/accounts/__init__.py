"""Accounts: users, members, credentials and webhooks."""
