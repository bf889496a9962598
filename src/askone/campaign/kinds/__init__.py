"""Kinds of labels: all that a campaign does differently for numbers, classes and orders."""
