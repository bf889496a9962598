"""Label spaces: numbers, classes and orders; and the losses between labels and predictions.

Spaces turn the user's units into the learner's and back.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
