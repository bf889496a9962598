"""Output of a campaign: views for pages, exports, backups, the model as a file."""
