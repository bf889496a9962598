"""Algorithm 1 of the paper and its relatives: stochastic gradients from one bit."""
