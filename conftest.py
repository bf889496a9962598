"""Without an extra there is nothing to collect in the modules that are the door to it, nor in those behind it."""

from importlib.util import find_spec

collect_ignore = (
    [] if find_spec("torch") else ["src/askone/learners/models/neural.py", "src/askone/estimators/network.py"]
)
collect_ignore += [] if find_spec("sqlalchemy") else ["src/askone/store"]
