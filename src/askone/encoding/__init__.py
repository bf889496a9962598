"""From cells to numbers: what columns hold, and how a model sees them; the same for campaigns and estimators."""
