"""What every room stands on.

Checked arguments, randomness as a table, the doors to numba and to modules that load late, types.
"""
