from .open import open_store as open_store
from .store import Store as Store
from .verification import verify as verify
