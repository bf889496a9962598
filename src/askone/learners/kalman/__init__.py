"""Numbers by banks of one-bit Kalman filters: the default regressor."""
