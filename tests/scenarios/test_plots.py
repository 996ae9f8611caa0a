"""Pictures of runs: drawn where matplotlib is installed, and a plain sentence where it is not."""

from __future__ import annotations

import sys
from dataclasses import replace

import pytest

from scripts.validation import density, flows, plots, validate
from scripts.validation.runner import run
from steer_addon.core.errors import OutputError


def test_pictures_are_drawn(tmp_path):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    for scenario in (flows.flow("bottleneck", 20), density.corridor(0.5)):
        outcome = run(replace(scenario, duration=1.0), tracks=True)
        path = plots.trajectories(outcome, tmp_path / "new")
        assert path.read_bytes().startswith(b"\x89PNG")
    results = [{"density": value, "area_speed": 1.0 / value} for value in density.DENSITIES]
    path = plots.speed_density([*results, {"name": "other"}], tmp_path)
    assert path is not None
    assert path.stat().st_size > 1000
    assert plots.speed_density([{"name": "other"}], tmp_path) is None
    taken = tmp_path / "taken"
    taken.write_text("")
    with pytest.raises(OutputError, match="cannot be written"):
        plots.speed_density(results, taken)


def test_without_matplotlib_nothing_is_run(monkeypatch, capsys, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert validate.main(["--rimea", "--plot", str(tmp_path)]) == 2
    assert "Pictures need matplotlib" in capsys.readouterr().err


def test_names_of_files():
    assert plots.slug("rimea 15 straight 75.4 m") == "rimea_15_straight_75.4_m"
    assert plots.slug("../a b/") == ".._a_b"
