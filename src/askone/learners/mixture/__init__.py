"""The default learner of numbers and of classes: one that learns with each answer, and models fitted to all of them."""
