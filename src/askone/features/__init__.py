"""Features of rows: scaled inputs, kernels and finite feature maps."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
