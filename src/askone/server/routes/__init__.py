"""Handlers of the routes, by topic."""
