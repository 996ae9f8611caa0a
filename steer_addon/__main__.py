"""`python -m steer_addon …`, the same as `steer …` and `blender -c steer …`."""

import sys

from .cli import main

if __name__ == "__main__":
    sys.exit(main())
