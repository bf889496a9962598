"""askone learns a model by asking one yes/no question per example."""

import lazy_loader

from askone.version import __version__ as __version__

# Names load when they are first used: all of them together take seconds.  The stub beside this says where they are.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
for _name in ("Client", "label"):  # they need extras, which ``import *`` must not
    __all__.remove(_name)
