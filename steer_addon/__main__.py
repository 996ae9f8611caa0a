"""`python -m steer_addon …`, the same as `steer …` and `blender -c steer …`."""

from .cli import script

if __name__ == "__main__":
    script()
