"""Two processes with one goal: one whole result; the second is refused, or writes after it."""

from __future__ import annotations

import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from tests.cli.test_full_disk import COMMANDS  # noqa: E402
from tests.cli.test_killed import lasting, start  # noqa: E402
from tests.cli.trees import tree  # noqa: E402
from tests.often import often  # noqa: E402


@pytest.mark.slow
@pytest.mark.parametrize("name", often(COMMANDS, "simulate", "cache"))
def test_two_at_once(small_flock, tmp_path, name):
    # in a process of its own, too: one that wrote USD before stores its words in another order
    alone = start(small_flock, name, tmp_path / "alone")
    out = tmp_path / "both"
    both = [start(small_flock, name, out) for _ in range(2)]
    assert alone.communicate() and alone.returncode == 0
    ends = [(process.communicate()[1], process.returncode) for process in both]
    assert sorted(code for _, code in ends)[0] == 0, ends
    for text, code in ends:
        assert code in (0, 1) and "Traceback" not in text and "unexpectedly" not in text
        assert code == 0 or "is writing to" in text
    assert lasting(tree(out)) == lasting(tree(tmp_path / "alone"))
