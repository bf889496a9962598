"""Classes by the likelihood of answers about sets: the default classifier.

The default of classes is a chain; each learner stands around the next (put together by ``SetLikelihood`` in
``estimators/learner_choices/defaults.py``):

``people.crowd.CrowdLearner``               who errs how often
``mixture.classes.ClassMixture``            models fitted beside, where rows have columns enough
``forgetting.Forgetting``                   begins anew when the concept changes
``contest.Contest``                         the answers choose among several features
``softmax.classifier.SetLikelihoodLearner`` the likelihood itself, one for each of these features
"""
