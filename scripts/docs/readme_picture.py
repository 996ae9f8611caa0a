"""The picture at the top of the README: the picture of `make demo`, smaller."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from scripts import demo  # noqa: E402

PATH = ROOT / "docs" / "images" / "demo.webp"


def main() -> int:
    """Run the demo, and keep its picture."""
    with tempfile.TemporaryDirectory(prefix="steer-readme-") as folder:
        out, work = Path(folder) / "out", Path(folder) / "work"
        out.mkdir()
        demo.make_demo(out, work)
        with Image.open(out / "demo.png") as picture:
            picture.convert("RGB").save(PATH, quality=82, method=6)
    print(f"{PATH.relative_to(ROOT)}  {PATH.stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
