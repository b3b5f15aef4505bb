"""`python -m evergrid` is `evergrid`."""

import sys

from evergrid.cli import main

sys.exit(main())
