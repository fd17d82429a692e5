"""python -m crealm: the command line, as `crealm` starts it."""

import sys

from .cli import main

if __name__ == "__main__":
    sys.exit(main())
