"""Bodies of people: skeleton and skin, from the tables in `people.toml`."""

from __future__ import annotations

import numpy as np

from ...numeric.easing import smoothstep
from ..figure import Skeleton
from .assembly import Table
from .skin import Floats, Follows, Ring, Skin, around, bulged

COLUMNS = 16
HEAD_COLUMNS = 12
TOP, TROUSERS, SKIN, HAIR, SHOES, EYES, MOUTH = range(7)

PARENTS = {
    "pelvis": "", "spine": "pelvis", "chest": "spine", "neck": "chest", "head": "neck",
    "upper_arm": "chest", "forearm": "upper_arm", "hand": "forearm", "fingers": "hand",
    "thigh": "pelvis", "shin": "thigh", "foot": "shin", "toe": "foot",
}  # fmt: skip


def skin_of(table: Table, skeleton: Skeleton) -> Skin:
    """The whole skin of a person."""
    skin = Skin(skeleton.names)
    torso = _torso(skin, table)
    for side in (1, -1):
        _arm(skin, table, torso, side)
        _leg(skin, table, torso, side)
        _shoe(skin, table, side)
    _head(skin, table)
    return skin


def _smooth(value: float, low: float, high: float) -> float:
    """0 below `low`, 1 above `high`, smooth between."""
    return float(smoothstep((value - low) / (high - low)))


def _oval(row: list[float], count: int, power: float = 0.9) -> Floats:
    """A level ring: z, half width, front, back."""
    z, width, front, back = row
    angle = around(count)
    sine, cosine = bulged(np.sin(angle), power), bulged(np.cos(angle), power)
    y = -np.where(cosine > 0.0, front, back) * cosine
    return np.column_stack([width * sine, y, np.full(count, z)])


def _spine_follows(table: Table, z: float) -> Follows:
    """What the trunk follows at a height."""
    joints = table["joints"]
    reach = 0.045 * table["height"]
    for name, parent in (("neck", "chest"), ("chest", "spine"), ("spine", "pelvis")):
        middle = joints[name][2]
        if z > middle - reach or name == "spine":
            return parent, name, _smooth(z, middle - reach, middle + reach)
    raise AssertionError


def _torso(skin: Skin, table: Table) -> list[Ring]:
    """The trunk down to where the legs part, with holes for the arms; last comes the crotch."""
    rings: list[Ring] = []
    hole = table["armhole"]
    for number, row in enumerate(table["torso"]):
        follows = [_spine_follows(table, row[0])] * COLUMNS
        for column in range(COLUMNS):
            side = "_l" if column < COLUMNS // 2 else "_r"
            aside = 4 - abs(column % 8 - 4)  # 0 in the middle, 4 at the side
            if hole <= number <= hole + 2 and aside >= 3:
                share = (0.30, 0.45, 0.20)[number - hole] * (1.0 if aside == 4 else 0.7)
                follows[column] = ("chest", "upper_arm" + side, share)
            below = number - table["hem"]
            if below >= 0 and aside > 0:
                share = (0.05, 0.05, 0.12)[below] * aside
                follows[column] = ("pelvis", "thigh" + side, share)
        rings.append(skin.ring(_oval(row, COLUMNS), follows))
    skin.cap(rings[0], TOP, smooth=False)
    removed = {rings[hole + 1][4], rings[hole + 1][12]}
    for number in range(len(rings) - 1):
        before = len(skin.faces)
        material = TROUSERS if number >= table["hem"] else TOP
        # shading breaks where cloth ends
        skin.band(rings[number], rings[number + 1], material, smooth=number != table["hem"])
        for place in reversed(range(before, len(skin.faces))):
            if removed & set(skin.faces[place]):
                del skin.faces[place], skin.materials[place], skin.smooth[place]
    crotch = skin.ring(np.array([[0.0, 0.02, table["crotch"]]]), ("pelvis", "pelvis", 0.0))
    rings.append(crotch)
    _forget(skin, sorted(removed), rings)
    return rings


def _forget(skin: Skin, vertices: list[int], rings: list[Ring]) -> None:
    """Remove vertices that no face has."""
    kept = [i for i in range(len(skin.points)) if i not in vertices]
    number = {old: new for new, old in enumerate(kept)}
    skin.points = [skin.points[i] for i in kept]
    skin.follows = [skin.follows[i] for i in kept]
    skin.faces = [tuple(number[i] for i in face) for face in skin.faces]
    for ring in rings:
        ring[:] = [number.get(i, -1) for i in ring]


def _along(table: Table, chain: tuple[str, str, str], t: float) -> tuple[Floats, Floats]:
    """The place along a chain of two bones, and the direction there."""
    joints = [np.array(table["joints"][name], float) for name in chain]
    bone = 0 if t < 1.0 else 1
    direction = joints[bone + 1] - joints[bone]
    place = joints[bone] + (t - bone) * direction
    if abs(t - 1.0) < 0.05:
        direction = joints[2] - joints[0]
    return place, direction / np.linalg.norm(direction)


def _across(center: Floats, direction: Floats, out: Floats, ahead: Floats) -> Floats:
    """A ring across a direction, from offsets outward and ahead."""
    front = np.array([0.0, -1.0, 0.0])
    front = front - direction * (front @ direction)
    front /= np.linalg.norm(front)
    outward = np.cross(front, direction)
    result: Floats = center + out[:, None] * outward + ahead[:, None] * front
    return result


def _limb_follows(names: tuple[str, str, str], t: float, reach: float = 0.16) -> Follows:
    """What a limb follows at a place along its chain; `names` begin with the first bone."""
    if t < 1.0 + reach:
        return names[0], names[1], _smooth(t, 1.0 - reach, 1.0 + reach)
    return names[1], names[2], 0.5 * _smooth(t, 1.85, 2.0)


def _arm(skin: Skin, table: Table, torso: list[Ring], side: int) -> None:
    """An arm out of the trunk's hole, its sleeve and hand."""
    end, mirror = ("_l", [1.0, 1.0, 1.0]) if side > 0 else ("_r", [-1.0, 1.0, 1.0])
    first = table["armhole"]
    columns = [(3, 0), (4, 0), (5, 0), (5, 1), (5, 2), (4, 2), (3, 2), (3, 1)]
    before = [torso[first + row][side * column % COLUMNS] for column, row in columns]
    chain = ("upper_arm", "forearm", "hand")
    names = ("upper_arm" + end, "forearm" + end, "hand" + end)
    angle = np.radians([45, 90, 135, 180, 225, 270, 315, 360])
    for number, (t, width, depth) in enumerate(table["arm"]):
        center, direction = _along(table, chain, t)
        follows = _limb_follows(names, t)
        if number == 0:  # the shoulder's cap leans outward
            direction = direction + [0.75, 0.0, 0.0]
            direction /= np.linalg.norm(direction)
            follows = ("chest", names[0], 0.75)
        points = _across(center, direction, width * np.sin(angle), depth * np.cos(angle))
        ring = skin.ring(points * mirror, follows)
        ends = number == table["sleeve"] + 1
        material = TOP if number <= table["sleeve"] else SKIN
        skin.band(before, ring, material, side < 0, smooth=not ends)
        before = ring
    long = table["sleeve"] == len(table["arm"]) - 1
    skin.cap(before, TOP if long else SKIN, side > 0, smooth=False)
    _hand(skin, table, side)


def _hand(skin: Skin, table: Table, side: int) -> None:
    """A hand with its thumb, closed in itself."""
    mirror, name = ([1, 1, 1], "hand_l") if side > 0 else ([-1, 1, 1], "hand_r")
    joints = table["joints"]
    wrist = np.array(joints["hand"], float)
    direction = wrist - joints["forearm"]
    direction /= np.linalg.norm(direction)
    follows = (name.replace("hand", "forearm"), name, 1.0)
    angle = around(6, np.pi / 2)
    hang = float(np.linalg.norm(wrist - joints["fingers"]))
    rings = []
    for way, thick, wide, y in table["hand"]:
        # fingers hang a little closed
        center = wrist + way * direction + [-1.1 * way * abs(way), y, 0.0]
        points = _across(center, direction, thick * np.sin(angle), wide * np.cos(angle))
        share = _smooth(way, 0.25 * hang, 1.75 * hang)
        fingers = (name, name.replace("hand", "fingers"), share)
        rings.append(skin.ring(points * mirror, fingers if share else follows))
    skin.tube(rings, SKIN, side < 0)
    size = table["hand"][1][2]
    thumb = np.array([-0.25, -0.95, -1.0]) * [1, 1, 1.9] * size * 0.72
    root = wrist + direction * (0.2 * size) + [0.0, -0.45 * size, 0.0]
    angle = around(4, np.pi / 4)
    rings = []
    for part, width in ((0.0, 0.36), (1.0, 0.17)):
        out, ahead = width * size * np.sin(angle), width * size * np.cos(angle)
        points = _across(root + part * thumb, direction, out, ahead)
        rings.append(skin.ring(points * mirror, follows))
    skin.tube(rings, SKIN, side < 0)


def _leg(skin: Skin, table: Table, torso: list[Ring], side: int) -> None:
    """A leg below the trunk, trousers first."""
    end, mirror = ("_l", [1.0, 1.0, 1.0]) if side > 0 else ("_r", [-1.0, 1.0, 1.0])
    names = ("thigh" + end, "shin" + end, "foot" + end)
    *_, parting, crotch = torso
    before = [parting[side * column % COLUMNS] for column in range(9)] + crotch
    angle = np.radians(-54.0 + 36.0 * np.arange(10))
    for number, (t, width, depth) in enumerate(table["leg"]):
        center, _ = _along(table, ("thigh", "shin", "foot"), t)
        follows = _limb_follows(names, t) if number else ("pelvis", names[0], 0.88)
        offsets = np.column_stack([width * np.sin(angle), -depth * np.cos(angle), 0.0 * angle])
        ring = skin.ring((center + offsets) * mirror, follows)
        ends = number == table["trouser"] + 1
        material = TROUSERS if number <= table["trouser"] else SKIN
        skin.band(before, ring, material, side < 0, smooth=not ends)
        before = ring
    long = table["trouser"] == len(table["leg"]) - 1
    skin.cap(before, TROUSERS if long else SKIN, side > 0, smooth=False)


def _shoe(skin: Skin, table: Table, side: int) -> None:
    """A shoe whose toes bend at the ball of the foot."""
    end, mirror = ("_l", [1.0, 1.0, 1.0]) if side > 0 else ("_r", [-1.0, 1.0, 1.0])
    ankle, ball = (np.array(table["joints"][name], float) for name in ("foot", "toe"))
    rings = []
    for y, width, height, sole in table["shoe"]:
        x = ankle[0] + (ball[0] - ankle[0]) * y / ball[1]
        middle = sole + 0.45 * (height - sole)
        half = [(-0.92, sole), (-1.0, middle), (-0.5, height)]
        section = half + [(-a, b) for a, b in reversed(half)]
        points: Floats = np.array([(x + width * a, y, z) for a, z in section], float) * mirror
        share = _smooth(-y, -ball[1] - 0.03 * table["height"], -ball[1] + 0.03 * table["height"])
        rings.append(skin.ring(points, ("foot" + end, "toe" + end, share)))
    skin.tube(rings, SHOES, side < 0)
    for ring, after in zip(rings, rings[1:], strict=False):
        sole_face = {ring[0], ring[5], after[0], after[5]}
        for place in range(len(skin.faces) - 1, -1, -1):
            if set(skin.faces[place]) == sole_face:
                skin.smooth[place] = False
                break


def _head(skin: Skin, table: Table) -> None:
    """Head, neck and hair."""
    rows = _head_rows(table)
    size = (table["crown"] - table["head"][0][0]) / 0.232
    follows = ("neck", "head", 1.0)
    rings = [skin.ring(row, follows) for row in rows[::-1]]
    crown, below = skin.ring(
        np.array([[0.0, 0.005, table["crown"]], [0.0, 0.0, rows[0][:, 2].mean()]]), follows
    )
    for upper, lower in zip(rings, rings[1:], strict=False):
        skin.band(upper, lower, SKIN)
    skin.fan(rings[0], crown, SKIN)
    skin.fan(rings[-1][::-1], below, SKIN)
    neck = []
    for row, share in zip(table["neck"], (1.0, 0.5, 0.0), strict=True):
        tops = _oval(row, 8, 1.0)
        neck.append(skin.ring(tops, follows if share == 1.0 else ("chest", "neck", share)))
    skin.tube(neck, SKIN)
    _face(skin, rows, size)
    _hair(skin, table, rows)


def _face(skin: Skin, rows: list[Floats], size: float) -> None:
    """Mouth, eyes with brows, and ears, on the head's rings."""
    follows = ("neck", "head", 1.0)
    lips, nose, eye = rows[1], rows[2], rows[3]

    def add(x: float, y: float, z: float, sizes: tuple[float, ...], material: int) -> None:
        skin.ball(np.array([x, y, z]), np.array(sizes) * size, follows, material)

    low, high = lips[0, 2], eye[0, 2]
    add(0.0, lips[0, 1] + 0.001 * size, low, (0.018, 0.005, 0.005), MOUTH)
    for side in (1.0, -1.0):
        x, front = side * 0.031 * size, eye[0, 1]
        add(x, front + 0.013 * size, high - 0.004, (0.011, 0.008, 0.009), EYES)
        add(x, front + 0.010 * size, high + 0.019 * size, (0.017, 0.007, 0.004), HAIR)
        aside = side * (nose[3, 0] + 0.003)
        add(aside, 0.012, 0.5 * (nose[3, 2] + eye[3, 2]), (0.009, 0.020, 0.031), SKIN)


def _head_rows(table: Table) -> list[Floats]:
    """Rings of the head from the chin on, with nose and eye sockets."""
    rows = []
    angle = around(HEAD_COLUMNS)
    for front_z, back_z, *rest in table["head"]:
        points = _oval([0.0, *rest], HEAD_COLUMNS, 0.95)
        points[:, 2] = front_z + (back_z - front_z) * 0.5 * (1.0 - np.cos(angle))
        rows.append(points)
    size = (table["crown"] - table["head"][0][0]) / 0.232
    rows[2][0] += np.array([0.0, -0.028, 0.004]) * size
    rows[3][0] += np.array([0.0, -0.006, 0.0]) * size
    rows[3][[1, -1]] += np.array([0.0, 0.005, 0.0]) * size
    return rows


def _hair(skin: Skin, table: Table, rows: list[Floats]) -> None:
    """A cap on the head's surface down to its edge, straight below the row that it hangs from."""
    follows = ("neck", "head", 1.0)
    thin, thick = table["hair_thickness"]
    crown = np.array([0.0, 0.005, table["crown"]])
    top = crown + (rows[-1] - crown) * [0.62, 0.62, 0.3]
    head = np.stack([*rows[table["hair_hangs"] :], top, np.tile(crown, (HEAD_COLUMNS, 1))])
    edges = np.array([table["hair"][6 - abs(6 - k)] for k in range(HEAD_COLUMNS)])
    rings = []
    for part in (0.25, 0.5, 0.75, 1.0):
        z = edges + (crown[2] - edges) * (1.0 - part**2.2)
        points = np.empty((HEAD_COLUMNS, 3))
        for k in range(HEAD_COLUMNS):
            x, y = (np.interp(z[k], head[:, k, 2], head[:, k, i]) for i in (0, 1))
            way = np.array([x, y]) / max(float(np.hypot(x, y)), 1e-6)
            depth = thin + (thick - thin) * (1.0 - part)
            points[k] = [*(np.array([x, y]) + way * depth), z[k] + depth * (1.0 - part)]
        rings.append(skin.ring(points, follows))
    tip, inside = skin.ring(
        np.array([crown + [0.0, 0.0, thick], [0.0, 0.012, rows[3][0, 2]]]), follows
    )
    skin.fan(rings[0], tip, HAIR)
    for upper, lower in zip(rings, rings[1:], strict=False):
        skin.band(upper, lower, HAIR)
    skin.fan(rings[-1][::-1], inside, HAIR)
