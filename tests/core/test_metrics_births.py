"""Metrics of crowds whose agents are born and gone: each counts once, and from its own birth."""

from __future__ import annotations

import numpy as np
import pytest

from steer_addon.core.results.metrics import Metrics

DT = 0.5


def of(position, **more):
    return Metrics(position, radius=0.25, wished_speed=1.0, dt=DT, **more)


def add(metrics, position, alive, arrived):
    metrics.add(np.array(position, float), alive=np.array(alive), arrived=np.array(arrived))


def test_who_is_not_born_does_not_count():
    metrics = of([[0, 0, 0], [5, 0, 0]])
    metrics.unborn(np.array([False, True]))
    add(metrics, [[0.5, 0, 0], [5, 0, 0]], [1, 0], [0, 0])
    figures = metrics.figures()
    assert (figures.agents, figures.arrived) == (1, 0)
    assert figures.overlap == 0.0


def test_times_count_from_the_birth():
    metrics = of([[0, 0, 0], [5, 0, 0]])
    metrics.unborn(np.array([False, True]))
    add(metrics, [[0.5, 0, 0], [5, 0, 0]], [1, 1], [0, 0])
    add(metrics, [[1.0, 0, 0], [5.5, 0, 0]], [1, 1], [0, 0])
    add(metrics, [[1.5, 0, 0], [6.0, 0, 0]], [1, 0], [0, 1])
    figures = metrics.figures()
    assert (figures.agents, figures.arrived) == (2, 1)
    # born at 0.5 s, arrived at 1.5 s
    assert figures.time == pytest.approx(1.0)
    assert figures.path == pytest.approx(1.0)
    assert figures.end == pytest.approx(1.5)


def test_rows_go_on_as_others():
    metrics = of([[0, 0, 0]])
    add(metrics, [[0.5, 0, 0]], [1], [0])
    add(metrics, [[1.0, 0, 0]], [0], [1])
    metrics.renew(np.array([0]), [[40, 0, 0]], [0.25], [1.0])
    add(metrics, [[40, 0, 0]], [0], [0])
    add(metrics, [[40, 0, 0]], [1], [0])
    add(metrics, [[40.5, 0, 0]], [1], [0])
    add(metrics, [[41.0, 0, 0]], [1], [0])
    figures = metrics.figures()
    assert (figures.agents, figures.arrived, figures.penetrations) == (2, 1, 0)
    assert figures.time == pytest.approx(1.0)
    # 41 m apart, no one went there in a step
    assert figures.fastest == pytest.approx(1.0)
    add(metrics, [[41.5, 0, 0]], [0], [1])
    figures = metrics.figures()
    assert figures.arrived == 2
    assert figures.time == pytest.approx((1.0 + 1.5) / 2.0)
    assert figures.path == pytest.approx((1.0 + 1.5) / 2.0)


def test_who_is_gone_without_arriving_has_not_arrived():
    metrics = of([[0, 0, 0]])
    add(metrics, [[0.5, 0, 0]], [1], [0])
    add(metrics, [[0.5, 0, 0]], [0], [0])
    for _ in range(40):
        add(metrics, [[0.5, 0, 0]], [0], [0])
    figures = metrics.figures()
    assert (figures.agents, figures.arrived, figures.stuck) == (1, 0, 0)
