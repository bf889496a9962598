"""Questions: frozen values that read as a sentence, know the truthful answer, and go to JSON and back."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
