"""Views, the arguments of kernels: named tuples of arrays, which numba unpacks without cost.

Shapes: n agents, m targets, c colliders, t triangles, k neighbors at most.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

F32 = NDArray[np.float32]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]


class AgentView(NamedTuple):
    """The living as they were at the start of the step; read only.

    Those of the crowd come first, and those of other crowds that it sees follow.
    """

    id: I64  # (n,)
    crowd: I64  # (1,) or (n,) rank of the crowd of each: of equal ids, the lower one comes first
    position: F32  # (n, 3) [m]
    velocity: F32  # (n, 3) [m/s]
    heading: F32  # (n, 3) unit
    normal: F32  # (n, 3) unit, ground under the feet
    radius: F32  # (n,) [m]
    mass: F32  # (n,) [kg]
    max_speed: F32  # (n,) [m/s]
    max_force: F32  # (n,) [N]
    target_index: I64  # (n,) row of the target, or -1
    desired: F32  # (n, 3) [m/s] weighted sum of the desired velocities, then with changes of the
    # wish added: each is complete before behaviors run that read it
    group: I32  # (n,) the same number from 0 on for those who walk together, -1 for none; filled
    # before the pushes


class BvhView(NamedTuple):
    """Triangles under a tree of boxes. Node i is a leaf when count[i] > 0.

    A leaf holds triangles order[first[i]] … order[first[i] + count[i] - 1]; an inner node has the
    children first[i] and second[i]. Node 0 is the root; no nodes at all means no triangles.
    Few arrays, and what is read together in one row: a query waits for memory most of its time.
    """

    box: F32  # (nodes, 6) [m]: low x, y, z, high x, y, z
    link: I32  # (nodes, 3): first, second, count
    order: I32  # (t,)
    triangles: F32  # (t, 3, 3) [m]


class TargetView(NamedTuple):
    """The targets of one behavior."""

    position: F32  # (m, 3) [m]
    velocity: F32  # (m, 3) [m/s]
    row: I64  # (n,) each agent's target, -1 where it has none
    via: F32  # (n, 3) [m] where each agent heads for on its way; (0, 3) where all go straight
    rest: F32  # (n,) [m] the way from there to the target; 0 where that is the target itself


class AxesView(NamedTuple):
    """Which way targets face: `p.axes` of behaviors that use AXES."""

    heading: F32  # (m, 3) unit
    right: F32  # (m, 3) unit, square to the heading
    above: F32  # (m, 3) unit, square to both


class SphereView(NamedTuple):
    """Obstacles as spheres: `p.spheres` of behaviors that use SPHERES."""

    center: F32  # (s, 3) [m]
    radius: F32  # (s,) [m]


class PathView(NamedTuple):
    """Polylines: `p.paths` of behaviors that use PATHS.

    Path k has the points first[k] to first[k + 1] - 1, at least two of them, no two in a row equal.
    A cyclic one continues from its last point to its first.
    """

    point: F32  # (all points, 3) [m]
    along: NDArray[np.float64]  # (all points,) [m] from the start of the path to the point
    first: I32  # (paths + 1,)
    length: NDArray[np.float64]  # (paths,) [m] with the closing segment of a cyclic path
    cyclic: NDArray[np.uint8]  # (paths,)


class ContainerView(NamedTuple):
    """A region to stay in: `p.container` of behaviors that use CONTAINER; none has radius 0."""

    center: F32  # (1, 3) [m]
    axes: F32  # (3, 3) unit rows, the box's own X, Y and Z
    half: F32  # (3,) [m] half the size of the box along its axes
    radius: F32  # (1,) [m]
    tree: BvhView  # the closed mesh; without triangles where there is none


class FieldView(NamedTuple):
    """A vector field on a surface, on lines or at points: `p.field` of behaviors that use FIELD.

    Lines are triangles with two equal corners, points triangles with three.
    """

    tree: BvhView
    vector: F32  # (t, 3, 3) at the corners of triangle t


class CompanionView(NamedTuple):
    """Who walks with whom: `p.companions` of behaviors that use COMPANIONS.

    Group g has the agents in rows member[first[g]] to member[first[g + 1] - 1], in the order of
    their ids. An agent that walks alone is a group of one.
    """

    group: I32  # (n,) each agent's group
    first: I32  # (groups + 1,)
    member: I32  # (n,) rows of the agents
    place: I32  # (n,) where each agent stands among the members
    total: NDArray[np.float64]  # (groups, 3) [m] sum of the members' positions
    number: F32  # (n,) number of a group that was formed, to be remembered; 0 for others


class SurfaceView(NamedTuple):
    """Walkable cells, in columns of a square lattice; column (cx, cy) has the number cy·nx + cx.

    The lowest floor of a column is the cell of the same number; where there is none, nobody can be
    in that cell, and its height is infinite. Floors above it are the cells from nx·ny on, column by
    column, the lowest first. Columns lie in blocks of 64, most of which have one floor only, and
    none above it next to them; the others are layered. See core.ways.lattice, which alone should
    know about it.
    """

    low: NDArray[np.float64]  # (2,) [m] x and y of the lattice's corner
    size: float  # [m] of a cell
    nx: int  # columns along x
    ny: int
    inverse: float  # 1/nx
    reach: float  # [m] distance up to which clearance counts
    endless: bool  # whether the plane goes on around the lattice, with nothing on it
    z: F32  # (cells,) [m] height of the floor
    clear: NDArray[np.uint8]  # (cells,) distance from the cell's middle to what stops a body, in
    # 255ths of the reach, rounded down
    link: NDArray[np.uint8]  # (cells,) a bit for each of eight sides, 1 where one goes on to the
    # lowest floor there; LAYERED for cells above others and in layered blocks
    row: I32  # (blocks,) rows of layered blocks, -1 for others
    first: I32  # (rows, 65) the first cell above the lowest one of each column of a block, and of
    # the one after them
    above: I32  # (cells - nx·ny,) the columns of cells above others
    wide: NDArray[np.uint32]  # (64·rows + len(above),) links of cells in layered blocks, and of
    # cells above others: four bits a side, 0 where nobody can go on, else 1 + the layer there


NO_HEADS = np.zeros((0, 3), np.float32)
NO_NARROW = np.zeros(0, np.int64)
NO_LANE = np.zeros(0, np.uint8)
NO_HEADING = np.zeros((0, 2), np.float32)
NO_JOINED = np.zeros((0, 2), np.int32)
NO_TOLL = np.zeros(0, np.float32)
NO_PORTAL = np.zeros(0, np.int32)


class RoomView(NamedTuple):
    """Which cells have room for a body of some radius, and which ways areas allow."""

    state: NDArray[np.uint8]  # (cells,) BLOCKED, TIGHT, OPEN or FORBIDDEN, see core.ways.room
    part: I32  # (parts,) rows of each 16 cells in shift; 0 for those where no cell is tight
    shift: NDArray[np.int8]  # (rows, 16, 2) where a body stands, off the middle; ±127 is the edge
    leap: NDArray[np.uint8]  # (cells,) open cells in one layer on all sides, see core.ways.leaps
    narrow: NDArray[np.int64] = NO_NARROW  # (n,) 8 cell + side: a body does not fit through there
    lane: NDArray[np.uint8] = NO_LANE  # (cells,) 1 + the one-way area of each cell, 0 for none;
    # (0,) where there are no such areas
    heading: F32 = NO_HEADING  # (areas, 2) which way one-way areas lead, level and unit
    joined: I32 = NO_JOINED  # (links, 2) cells from and to which portals lead
    toll: F32 = NO_TOLL  # (links,) [m] how long the way through each seems
    portal: I32 = NO_PORTAL  # (links,) which portal it is, negative backward
    gate: NDArray[np.uint8] = NO_LANE  # (cells,) 1 for cells at an end of a link; (0,) where
    # there are none


class LabelView(NamedTuple):
    """The island of each cell with room, see core.ways.islands."""

    part: I32  # (parts,) that of each 16 cells; -1 - row of single where they are of several
    single: I32  # (rows, 16) those of such cells


class NeighborView(NamedTuple):
    """For each agent its nearest others, nearest first, ties by id."""

    count: I32  # type: ignore[assignment]  # (n,) hides tuple.count, which nobody calls
    index: I32  # type: ignore[assignment]  # (n, k) rows of the agents
    distance: F32  # (n, k) [m]


class WorldView(NamedTuple):
    """All that agents perceive in this step."""

    targets: TargetView
    heads: F32  # (n, 3) [m] where each agent heads for, its own place for nowhere; (0, 3) where
    # no behavior leads anybody
    neighbors: NeighborView
    colliders: BvhView
    collider_center: F32  # (c, 3) [m]
    collider_radius: F32  # (c,) [m] bounding spheres
    collider_first: I32  # (c + 1,) triangles first[c] to first[c + 1] - 1 belong to collider c
    ground: BvhView
    eye_height: float  # [m] height above the position at which rays start
    tall: float  # [m] how far bodies reach above that height; 0 where nothing hangs there
    min_up: float  # cosine of the steepest walkable slope; steeper ground is an obstacle
    flat: bool  # GROUND motion
    relaxation_time: float  # [s] τ of the REYNOLDS solver: the force of a push is Δ/τ
    dt: float  # [s]
    seed: int
    step: int  # number of steps since the start of the run, substeps counted
    time: float  # [s] since the start of the run, at the start of the step
    first: bool  # the behavior acts for the first time: its memory is 0
