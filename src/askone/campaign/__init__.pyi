from .campaign import Campaign as Campaign
from .create import add_rows as add_rows
from .create import create_campaign as create_campaign
from .settings.settings import Settings as Settings
from .tables.open import open_table as open_table
