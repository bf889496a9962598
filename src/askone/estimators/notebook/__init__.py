"""Models in notebooks: a card, learning curves, plots, the log as a data frame, and a widget to answer with."""
