"""Without torch there is nothing to collect in the module that is the door to it, nor in the one behind it."""

from importlib.util import find_spec

collect_ignore = [] if find_spec("torch") else ["src/askone/models/neural.py", "src/askone/networks.py"]
