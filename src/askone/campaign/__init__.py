"""Campaigns: people answer, a model learns.  Learner, rows and log meet here."""
