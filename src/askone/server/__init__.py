"""Campaigns over HTTP: pages for people, an API for programs."""
