"""`python3 -m harness NAME`, which `viaduct bench NAME` executes."""

import sys

from .cli import main

if __name__ == "__main__":
    sys.exit(main())
