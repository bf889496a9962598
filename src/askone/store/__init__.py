"""Where campaigns are kept: an append-only log, rows, seats and accounts, in SQLite or PostgreSQL."""
