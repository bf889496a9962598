"""Who may do what: users, members, credentials and webhooks."""
