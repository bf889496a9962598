from .client import Client as Client
from .question import Posed as Posed
