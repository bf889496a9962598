"""The store of campaigns: an append-only log, rows, leases and accounts, in SQLite or PostgreSQL."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
