"""Models: a forward map and its pull-back."""
