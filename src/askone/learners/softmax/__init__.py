"""Classes by the likelihood of answers about sets: the default classifier."""
