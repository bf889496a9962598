"""Orders by Thurstone's model, Gaussian utilities filtered from comparisons: the default ranker."""
