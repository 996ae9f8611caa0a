"""The numbers of `avoid_neighbors`, constants to kernels: what each does, and why.

Those without a unit are shares, or costs beside that of a turn, which is 1 - cosine.
"""

from __future__ import annotations

import math
from typing import NamedTuple


class Rules(NamedTuple):
    """One set of numbers."""

    # the way of least cost
    step: float = math.radians(15.0)  # angle between two ways [rad]
    turns: int = 8  # ways to each side: up to 120°, so that an agent can also turn away
    crowd: float = 1.8  # cost of a head-on touch that is near; a turn by 120° costs 1.5
    wall: float = 1.5  # cost of a way that a wall takes whole
    keep: float = 0.15  # cost of leaving the way of the velocity: agents keep to what they chose
    followed: float = 0.25  # how much a neighbor with the same wish is in the way, beside 1 head-on
    grazing: float = 0.3  # neighbors that close in below this share of s are in the way less
    refined: float = 0.5  # steps by which the best way is moved at most, to change smoothly
    toward: float = 0.99  # cosine: up to 8° off it, a wish leads to a target or corner
    flank: float = 0.9  # share of the radius where outer rays start; the last lies in a wall beside
    flank_round: float = math.sqrt(1.0 - 0.9 * 0.9)  # how far the body reaches ahead of these
    # the common side
    side: float = 0.25  # cost of a way square to the wish on the side that is not preferred
    mixed: float = 10.0  # in full where wishes differ by 1 / mixed of 1 - cosine, by 26°
    slowed: float = 2.0  # in full where 1 / slowed of the wished speed is lost
    around: float = 1.5  # factor where many ways cross, above 1: all move around the middle,
    crossing: float = 2.5  # in full where 1 / crossing of another wish is near
    # neighbors
    another: float = 0.03  # up to this much of another wish a crowd is a queue: the ways of many to
    # one door differ; at 0.1, queues at narrow doors were not recognized, and locked permanently
    apart: float = 1.0e-3  # distance that two in the same place count as having [m]
    abreast: float = 0.02  # share of the distance at touch; a lot decides below it
    elsewhere: float = 0.7  # cosine: agents that turned more than 45° off the wish go elsewhere
    beside: float = 2.2  # radii within which a wall is near
    pushed: float = 0.5  # share of the push of a close neighbor that moves the agent
    # the pace
    askew: float = 0.25  # squared cosine: beyond 60° beside the way nobody is ahead
    response: float = 0.25  # time by which queues foresee gaps [s], less a step: that comes anyway
    closer: float = 0.65  # share of the headway that people give up at a door
    doorway: float = 5.0  # distance of a door that counts [m], in full within half of it
    door_wall: float = 0.5  # cosine between the wish and the way into a wall that makes a door
    door_rays: tuple[float, float, float] = (0.5, 2.0, 4.5)  # tangents: 27°, 63°, 77° beside
    pressing: float = 0.4  # a standing agent presses less: they would shove one another to and fro
    # which of two agents goes first
    like: float = 0.7  # cosine between two wishes: up to 45° one yields to the other
    sweeps: int = 20  # how often neighbors are gone through at most, until none is pressed
    settled: float = 1.0e-3  # change of the velocity in a sweep that ends them [m/s]
    presses: float = 0.7  # backing out presses on those behind where wishes converge, or at a wall
    converge: float = 3.0  # how much sooner wishes converge than they differ
    walled: float = 2.0  # at a wall in full where it takes 1 / walled of the way ahead
    # agents that are held up
    waiting: float = 0.1  # an agent that chose less than this share of s waits for others
    blocked: float = 0.05  # an agent slower than this, though it chose more, is held up
    patience: float = 2.0  # how long that is borne [s]
    retreat: float = 0.5  # share of s at which an agent retreats
    given: float = 2.0  # length of the retreat [radii]: the width of a body
    along: float = 8.0  # length of a way along walls [radii]
    # turning back
    goes: float = 0.05  # an agent slower than this share of s stands
    bend: float = 0.85  # cosine of the angle by which ways bend at a time: 32°
    aside: float = math.sqrt(0.2775)  # its sine
    stands: float = 1.5  # how long an agent stands before it goes back [s]
    blended: float = 0.3  # time to follow a curve [s]: else many small turns make one about


RULES = Rules()
MOST = 32  # neighbors that count
Vec = tuple[float, float, float]
NOWHERE: Vec = (0.0, 0.0, 0.0)
