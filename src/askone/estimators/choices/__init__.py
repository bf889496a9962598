"""How an estimator is to learn: one small object a family, which checks its arguments and makes its learner."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
