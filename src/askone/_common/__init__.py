"""Foundations of all packages.

Checked arguments, randomness as a table, the doors to numba and to modules that load late, types.
"""
