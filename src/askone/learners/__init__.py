"""Learners: init, ask, tell, predict over a frozen configuration and a state."""
