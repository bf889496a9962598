"""What a campaign leaves behind: views for pages, exports, backups, the model as a file."""
