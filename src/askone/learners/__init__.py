"""Learners: one small contract (``base``) and a family in each folder.

``kalman`` is the default for numbers, ``softmax`` for classes, ``thurstone`` for orders; ``sgd`` is
Algorithm 1, ``rls`` recursive least squares on unbiased pseudo-labels, ``paper`` the paper's other
schemes, ``repeated`` asks about a row again.
``gradients``, ``models`` and ``step_rules`` are what stochastic gradients are made of.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
