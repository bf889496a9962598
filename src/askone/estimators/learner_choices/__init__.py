"""How an estimator is to learn: one small object a learner, which checks its arguments and makes the learner."""
