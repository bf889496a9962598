"""Recursive least squares on unbiased pseudo-labels."""
