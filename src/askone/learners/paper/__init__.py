"""Other schemes of the paper: the min-max game, appendix B's generic scheme, prices without noise."""
