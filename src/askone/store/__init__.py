"""The store of campaigns: an append-only log, rows, leases and accounts, in SQLite or PostgreSQL.

An answer is durable from COMMIT on, which ``Database.transaction`` (``_database.py``) runs at the end of the block of
``Store.transaction``; what is written in it goes through ``Transaction.write`` (``transactions.py``).
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
