"""`python -m steer_addon …`, the same as `steer …` and `blender -c steer …`."""

from . import process, run_command


def script() -> None:
    """Entry of `steer` and `python -m steer_addon`: run a command, and end the process."""
    process.run(run_command)


if __name__ == "__main__":
    script()
