"""python -m askone: the same as the command askone."""

import sys

from askone.cli.main import main

sys.exit(main())
