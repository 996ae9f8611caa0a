"""Gaits of people: legs that reach their planted feet, and a trunk and arms that go with them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from ..contacts import turned
from ..figure import Skeleton
from .limbs import limb
from .rounds import stepped_round
from .steps import Foot, Gait, Track, away_from_stand, first_track, foot_track
from .turning import Floats, between, joint_places, moved, turn

ARM = ("arm_ahead", "arm_out", "arm_in", "elbow")
"""Turns of an arm: ahead, to the side, of the forearm to the middle, and of the elbow."""
_REACH = 0.998
"""Part of its length to which a planted leg stretches at most, from hip to ankle."""


class Body:
    """A person who can be posed: a skeleton, with what its gaits need.

    Attributes:
        skeleton: The joints.
        foot: Its feet.
        leg: From the hip to the ground [m].
    """

    def __init__(self, skeleton: Skeleton, foot: Foot) -> None:
        """Take lengths from the rest pose."""
        self.skeleton = skeleton
        self.foot = foot
        self.number = {name: i for i, name in enumerate(skeleton.names)}
        self.rest = skeleton.rest.astype(float)
        hip, knee, ankle = (self._at(name + "_l") for name in ("thigh", "shin", "foot"))
        self.thigh = float(np.linalg.norm(knee - hip))
        self.shin = float(np.linalg.norm(ankle - knee))
        self.leg = float(hip[2])

    def _at(self, joint: str) -> Floats:
        place: Floats = self.rest[self.number[joint]]
        return place

    def moving(self, phase: Floats, gait: Gait) -> tuple[Floats, Floats]:
        """Joints of a walk or run.

        Args:
            phase: Phases [cycles], shape (n,).
            gait: The gait.

        Returns:
            Their places [m], shape (n, joint_count, 3), and rotations.
        """
        root, turns = self._moves(phase, gait)
        tracks = {"_l": foot_track(phase, gait, self.foot)}
        tracks["_r"] = _mirrored(foot_track(phase + 0.5, gait, self.foot))
        return self._stepped(root, turns, tracks)

    def starting(self, phase: Floats, stand: Gait, gait: Gait) -> tuple[Floats, Floats]:
        """Joints of first and last steps, see `Row.from_stand`; as `moving`.

        Args:
            phase: Phases [cycles] of steps that the right foot begins, shape (n,).
            stand: How the person stands.
            gait: The gait that the steps lead to.
        """
        root, turns = self._between(away_from_stand(phase), phase, stand, gait)
        tracks = {}
        for side, late in (("_l", 0.0), ("_r", 0.5)):
            own = self._foot_of(stand, 0.0 * phase)
            tracks[side] = first_track(phase, late, gait, self.foot, own)
        tracks["_r"] = _mirrored(tracks["_r"])
        return self._sunk(root, turns, tracks)

    def stopping(self, share: Floats, stand: Gait, gait: Gait) -> tuple[Floats, Floats]:
        """Joints of last steps, in which the right foot is set down; as `moving`.

        Args:
            share: How much the body is as the gait begins, where the right foot passes the left
                one, 0 to 1, shape (n,).
            stand: How the person stands.
            gait: The gait.
        """
        none, tracks = 0.0 * share, {}
        root, turns = self._between(share, none, stand, gait)
        for side, late in (("_l", 0.0), ("_r", 0.5)):
            own = self._foot_of(stand, none)
            tracks[side] = own.toward(foot_track(none + late, gait, self.foot), share)
        tracks["_r"] = _mirrored(tracks["_r"])
        return self._sunk(root, turns, tracks)

    def _between(
        self, share: Floats, phase: Floats, stand: Gait, gait: Gait
    ) -> tuple[Floats, dict[str, Floats]]:
        """Pelvis and rotations between standing, 0, and a walk at phases, 1, without the legs."""
        stood, still = self._stands(0.0 * phase, stand, {})
        root, turns = self._moves(phase, gait)
        root = stood + share[:, None] * (root - stood)
        return root, {name: between(still[name], turns[name], share) for name in turns}

    def turning(self, phase: Floats, stand: Gait, values: Gait) -> tuple[Floats, Floats]:
        """Joints of somebody who turns to the left on the spot; as `moving`.

        Args:
            phase: Phases [cycles], from 0 to 1, shape (n,).
            stand: How the person stands, halfway from one foot to the other.
            values: Turn of a cycle, lift of feet, lean over the foot that stays, turn of the chest
                and look ahead.
        """
        root, turns = self._stands(0.0 * phase + 0.25, stand, {})
        root[:, 0] -= values["aside"] * np.sin(2.0 * np.pi * phase)
        ahead = np.sin(np.pi * phase) ** 2
        turns["chest"] = turn(2, values["chest_yaw"] * ahead) @ turns["chest"]
        for name in ("neck", "head"):
            turns[name] = turn(2, values["look"] * ahead) @ turns[name]
        tracks = {}
        for side, late in (("_l", False), ("_r", True)):
            yaw, height = stepped_round(phase, late, values["round"])
            own = self._foot_of(stand, 0.0 * phase)
            own = _mirrored(own) if late else own
            ankle = turned(own.ankle, yaw)
            ankle[:, 2] += values["lift"] * height
            tracks[side] = Track(ankle, own.pitch, own.toes, own.yaw + yaw, height == 0.0)
        return self._sunk(root, turns, tracks)

    def _sunk(
        self, root: Floats, turns: dict[str, Floats], tracks: dict[str, Track]
    ) -> tuple[Floats, Floats]:
        """The same as `_stepped`, with a pelvis that sinks to where the legs reach their feet."""
        longest = _REACH * (self.thigh + self.shin)
        for side, track in tracks.items():
            hip = moved(turns["pelvis"], self._at("thigh" + side) - self._at("pelvis"))
            away = track.ankle - hip - root
            flat = np.sum(away[:, :2] ** 2, axis=-1)
            root[:, 2] += np.minimum(away[:, 2] + np.sqrt(longest**2 - flat), 0.0)
        return self._stepped(root, turns, tracks)

    def _moves(self, phase: Floats, gait: Gait) -> tuple[Floats, dict[str, Floats]]:
        """Pelvis and rotations of a walk or run, without its legs."""
        turns = self._trunk(phase, gait)
        for side, half in (("_l", 0.0), ("_r", 0.5)):
            self._swing_arm(turns, side, np.cos(2.0 * np.pi * (phase + half - 0.27)), gait)
        x = gait["sway"] * np.cos(2.0 * np.pi * phase)
        z = self._pelvis_height(phase, gait)
        return np.stack([x, 0.0 * x, z], axis=-1), turns

    def standing(
        self, phase: Floats, gait: Gait, gesture: Mapping[str, Floats] = MappingProxyType({})
    ) -> tuple[Floats, Floats]:
        """Joints of somebody who stands, breathes and shifts the weight; as `moving`.

        Args:
            phase: Phases [cycles], shape (n,).
            gait: The gait.
            gesture: Turns that are added [rad], each of shape (n,), see `gestures`.
        """
        root, turns = self._stands(phase, gait, gesture)
        track = self._foot_of(gait, 0.0 * phase)
        return self._stepped(root, turns, {"_l": track, "_r": _mirrored(track)})

    def _foot_of(self, stand: Gait, none: Floats) -> Track:
        """The left foot of somebody who stands, for each of some zeros."""
        ankle = np.array([stand["width"], stand["ankle_back"], self.foot.ankle]) + none[:, None]
        return Track(ankle, none, none, stand["toe_out"] + none, none == 0.0)

    def _stands(
        self, phase: Floats, gait: Gait, gesture: Mapping[str, Floats]
    ) -> tuple[Floats, dict[str, Floats]]:
        """Pelvis and rotations of somebody who stands, without the legs."""
        none = 0.0 * phase
        weight = np.cos(2.0 * np.pi * phase)
        breath = gait["breath"] * np.sin(4.0 * np.pi * phase)
        turns = {"pelvis": turn(1, -gait["list"] * weight)}
        turns["spine"] = turns["pelvis"]
        turns["chest"] = turn(0, -breath) @ turn(1, 0.5 * gait["list"] * weight)
        turns["chest"] = turn(2, gesture.get("chest_yaw", none)) @ turns["chest"]
        look = turn(2, 0.5 * gesture.get("look_yaw", none))
        turns["neck"] = look @ turn(0, 0.3 * breath - 0.5 * gesture.get("look_up", none))
        turns["head"] = look @ turns["neck"] @ turn(0, -0.5 * gesture.get("look_up", none))
        arms = {**gait, "arm_swing": 0.0, "elbow_swing": 0.0, "arm_in": 0.0}
        for side in ("_l", "_r"):
            own = {name: arms[name] + gesture.get(name + side, none) for name in ARM}
            self._swing_arm(turns, side, none, {**arms, **own})
        z = self._at("pelvis")[2] - self._at("thigh_l")[2] + self._down(gait, gait["width"], 0.0)
        return np.stack([gait["sway"] * weight, none, none + z], axis=-1), turns

    def _down(self, gait: Gait, ankle_x: float, hip_x: float) -> float:
        """Height of a hip over a flat foot, with the knee as the gait says."""
        knee = np.pi - gait["knee"]
        reach = self.thigh**2 + self.shin**2 - 2.0 * self.thigh * self.shin * np.cos(knee)
        aside = abs(self._at("thigh_l")[0] + hip_x - ankle_x)
        return float(self.foot.ankle + np.sqrt(reach - gait["ankle_back"] ** 2 - aside**2))

    def _trunk(self, phase: Floats, gait: Gait) -> dict[str, Floats]:
        """Rotations of pelvis, chest and head."""
        wave, lead = np.sin(2.0 * np.pi * phase), np.cos(2.0 * np.pi * phase)
        dip = np.cos(2.0 * np.pi * (phase + 0.06))
        pelvis = (
            turn(2, gait["yaw"] * wave)
            @ turn(1, -gait["list"] * dip)
            @ turn(0, 0.35 * gait["lean"] + 0.0 * phase)
        )
        nod = 0.12 * gait["lean"] * np.cos(4.0 * np.pi * (phase - 0.05))
        chest = (
            turn(2, -gait["chest_yaw"] * wave)
            @ turn(1, 0.35 * gait["list"] * lead)
            @ turn(0, gait["lean"] + nod)
        )
        spine = (
            turn(2, (0.4 * gait["yaw"] - 0.4 * gait["chest_yaw"]) * wave)
            @ turn(1, -0.4 * gait["list"] * dip)
            @ turn(0, 0.7 * gait["lean"] + 0.5 * nod)
        )
        neck = turn(2, -0.3 * gait["chest_yaw"] * wave) @ turn(0, 0.45 * gait["lean"] + 0.0 * wave)
        head = turn(0, 0.15 * gait["lean"] + 0.0 * wave)
        return {"pelvis": pelvis, "spine": spine, "chest": chest, "neck": neck, "head": head}

    def _swing_arm(
        self, turns: dict[str, Floats], side: str, wave: Floats, gait: Mapping[str, Any]
    ) -> None:
        """Add rotations of an arm; `wave` is 1 where it is farthest ahead."""
        sign = 1.0 if side == "_l" else -1.0
        ahead = gait["arm_ahead"] + gait["arm_swing"] * wave
        upper = (
            turns["chest"]
            @ turn(1, -sign * gait["arm_out"] + 0.0 * wave)
            @ turn(0, -ahead)
            @ turn(2, -sign * gait["arm_in"] * (1.0 + 0.3 * wave))
        )
        lower = upper @ turn(0, -(gait["elbow"] + gait["elbow_swing"] * wave))
        turns["upper_arm" + side] = upper
        turns["forearm" + side] = lower
        turns["hand" + side] = lower
        turns["fingers" + side] = lower @ turn(1, sign * gait["curl"] + 0.0 * wave)

    def _pelvis_height(self, phase: Floats, gait: Gait) -> Floats:
        """Heights of the pelvis from which both legs reach their planted feet.

        Over the planted foot the knee bends as the gait says; between, the pelvis sinks by as much
        as the gait says, or as the legs need.
        """
        fine = np.arange(200) / 200.0
        pelvis = self._trunk(fine, gait)["pelvis"]
        track = foot_track(fine, gait, self.foot)
        hip = moved(pelvis, self._at("thigh_l") - self._at("pelvis"))
        hip[:, 0] += gait["sway"] * np.cos(2.0 * np.pi * fine)
        top = self._down(gait, gait["width"], gait["sway"]) - hip[0, 2]
        flat = np.sum((track.ankle - hip)[:, :2] ** 2, axis=-1)
        longest = (_REACH * (self.thigh + self.shin)) ** 2
        highest = track.ankle[:, 2] + np.sqrt(np.maximum(longest - flat, 0.0)) - hip[:, 2]
        late = gait["bob_late"]

        def sink(at: Floats) -> Floats:
            result: Floats = np.cos(4.0 * np.pi * late) - np.cos(4.0 * np.pi * (at - late))
            return result

        counted = track.planted & (sink(fine) > 0.2)
        needed = np.max((top - highest[counted]) / sink(fine)[counted])
        bob = max(gait["bob"], float(needed))
        height: Floats = top - bob * sink(phase)
        return height

    def _stepped(
        self, root: Floats, turns: dict[str, Floats], tracks: dict[str, Track]
    ) -> tuple[Floats, Floats]:
        """Add legs that reach their feet, and give places and rotations of all joints."""
        for side, track in tracks.items():
            hip = root + moved(turns["pelvis"], self._at("thigh" + side) - self._at("pelvis"))
            yaw = turn(2, track.yaw)
            ahead = yaw[:, :, 1] * [-1.0, -1.0, 0.0] + turns["pelvis"][:, :, 1] * [-1.0, -1.0, 0.0]
            chain = np.stack([self._at(name + side) for name in ("thigh", "shin", "foot")])
            upper, lower = limb(chain, hip, track.ankle, ahead)
            turns["thigh" + side], turns["shin" + side] = upper, lower
            turns["foot" + side] = yaw @ turn(0, -track.pitch)
            turns["toe" + side] = yaw @ turn(0, -track.toes)
        turned = np.stack([turns[name] for name in self.skeleton.names], axis=1)
        return joint_places(self.skeleton, root, turned), turned


def _mirrored(track: Track) -> Track:
    """The same foot on the other side."""
    flipped = track.ankle * [-1.0, 1.0, 1.0]
    return Track(flipped, track.pitch, track.toes, -track.yaw, track.planted)
