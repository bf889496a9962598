"""Learners that ask about a row again: until its label is known, or never what is implied."""
