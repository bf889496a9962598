from .app import create_app as create_app
from .config import ServerConfig as ServerConfig
from .runner import serve as serve
