"""Feet of a body: the bones or objects that its vertices belong to."""

from __future__ import annotations

from collections import Counter
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core.errors import CharacterError, short
from .sampling import Sampler

_HEM = 0.1
"""Share of what stands on the ground up to which a bone is no foot, but carries a hem."""


def mask_of(sampler: Sampler, names: tuple[str, ...]) -> NDArray[np.bool_] | None:
    """Which vertices belong to bones or objects, shape (vertex_count,); None without names.

    Raises:
        CharacterError: A name is unknown, or nothing belongs to it.
    """
    if not names:
        return None
    wanted = set(names)
    if sampler.is_posed:
        bones = sampler.rig.data.bones
        for name in names:
            if name in bones:
                # toes move with their foot
                wanted |= {bone.name for bone in bones[name].children_recursive}
    owners = _owners(sampler)
    mask = np.array([owner in wanted for owner in owners], np.bool_)
    lacking = next((name for name in names if not _has(sampler, owners, name)), None)
    if lacking is not None:
        known = ", ".join(repr(name) for name, _ in Counter(owners).most_common(12) if name)
        raise CharacterError(
            f"No vertex belongs to {short(lacking)}, which is given as Feet: give bones that "
            f"deform, or objects: {known}; or leave Feet empty to have them found"
        )
    return mask


def names_of(sampler: Sampler, vertices: NDArray[np.intp]) -> tuple[str, ...]:
    """The bones or objects that vertices belong to, most of them first."""
    owners = _owners(sampler)
    count = Counter(owners[number] for number in vertices.tolist())
    return tuple(name for name, _ in count.most_common() if name)


def legs_of(sampler: Sampler, planted: NDArray[np.intp]) -> dict[str, NDArray[np.bool_]]:
    """Which vertices belong to the legs of either side, each of shape (vertex_count,).

    Args:
        sampler: The rig; it shows a pose in which one side of it is beside the other one.
        planted: Numbers of the vertices that stand on the ground at some time.

    Returns:
        Both sides, by the bones from which they hang; none where their bones are not known.
    """
    bones, owners = sampler.rig.data.bones, _owners(sampler)
    count = Counter(owners[number] for number in planted.tolist())
    used = [name for name, many in count.items() if many > _HEM * len(planted)]
    feet = [bones[name] for name in used if name in bones]
    if len(feet) < len(used) or not feet:
        return {}
    above = [{bone, *bone.parent_recursive} for bone in feet]
    shared = set.intersection(*above)
    below = [own - shared for own in above]
    if not all(below):
        return {}
    # the uppermost bones below what all feet hang from
    tops = {max(own, key=lambda bone: len(bone.children_recursive)) for own in below}
    if len(tops) != 2:
        return {}
    sides = {}
    for top in sorted(tops, key=lambda bone: str(bone.name)):
        names = {top.name, *(bone.name for bone in top.children_recursive)}
        sides[top.name] = np.array([owner in names for owner in owners], np.bool_)
    return sides


def _has(sampler: Sampler, owners: list[str], name: str) -> bool:
    below = {name}
    if sampler.is_posed and name in sampler.rig.data.bones:
        below |= {bone.name for bone in sampler.rig.data.bones[name].children_recursive}
    return not below.isdisjoint(owners)


def _owners(sampler: Sampler) -> list[str]:
    """Name of the bone or, without one, of the object that each vertex belongs to."""
    found: list[str] = []
    for twin, name in zip(sampler.twins, sampler.names, strict=True):
        mesh: Any = twin.evaluated_get(sampler.depsgraph).data
        if twin.parent_type == "BONE" and twin.parent_bone:
            found += [twin.parent_bone] * len(mesh.vertices)
        else:
            found += _strongest(twin, mesh, name)
    return found


def _strongest(twin: bpy.types.Object, mesh: bpy.types.Mesh, name: str) -> list[str]:
    groups = [group.name for group in twin.vertex_groups]
    bones = {bone.name for bone in twin.find_armature().data.bones} if twin.find_armature() else ()
    named = [group in bones for group in groups]
    result = []
    for vertex in mesh.vertices:
        best, most = name, 0.0
        for entry in vertex.groups:
            if entry.weight > most and named[entry.group]:
                best, most = groups[entry.group], entry.weight
        result.append(best)
    return result
