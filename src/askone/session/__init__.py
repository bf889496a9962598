"""Asking and telling with memory: open questions, budget and log; replay, simulation, and which row to ask about."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
