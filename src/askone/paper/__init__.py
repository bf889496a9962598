"""The paper, reproduced: every figure and claim as a named, seeded run.

These modules import the library, never the reverse; there is no second implementation of anything.
"""
