"""The runs: each is a figure or a claim of the paper, beside those that share its experiment."""
