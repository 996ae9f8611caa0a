"""Make a character for crowds from a rig and its actions."""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..blender import scene_units
from ..blender.characters import making, rigs
from ..blender.headless import batch
from ..blender.making import importers, staging
from ..blender.writing import files
from ..core.characters.memory import check_memory, expected_poses
from ..core.characters.recipe import Recipe, optional_part, way_per_pose
from ..core.characters.rows import Plan
from ..core.errors import CharacterError, short
from ..process import tell
from . import arguments
from .output import ProgressLine, Result

if TYPE_CHECKING:
    import bpy

NAME = "character"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("action", choices=["make"], help="make: sample a rig to a character")
    parser.add_argument(
        "file", metavar="FILE", type=arguments.path, help=".blend, .glb, .gltf, .fbx, .usd, .abc"
    )
    parser.add_argument(
        "--rig", metavar="NAME",
        help="armature, or object above all others that move (default: the armature with meshes)",
    )  # fmt: skip
    parser.add_argument("--name", default="", help="name of the character (default: by its rig)")
    for role, text in (("stand", "standing"), ("walk", "walking"), ("run", "running")):
        parser.add_argument(
            f"--{role}", dest=f"{role}_action", metavar="ACTION",
            help=f"action that shows {text}, or '' for none (default: by its name)",
        )  # fmt: skip
    parser.add_argument(
        "--clip", metavar="NAME=ACTION", type=_clip, action="append", default=[],
        help="further action, and the name that it is played by; may be given several times",
    )  # fmt: skip
    for name, text in (("once", "ends"), ("loop", "begins again")):
        parser.add_argument(
            f"--{name}", metavar="NAME", action="append", default=[],
            help=f"clip that {text}, by its name (default: by its first and last frame)",
        )  # fmt: skip
    parser.add_argument(
        "--feet", metavar="BONE", action="append", default=[],
        help="bone or object that stands on the ground; may be given several times (default: "
        "by their names, or else by their motion)",
    )  # fmt: skip
    parser.add_argument(
        "--without", metavar="OBJECT", action="append", default=[],
        help="object of the rig that is left out; may be given several times",
    )  # fmt: skip
    parser.add_argument(
        "--optional", metavar="OBJECT=SHARE", type=_optional, action="append", default=[],
        help="object that some agents have, and the share of those who do, such as hat=0.3; may "
        "be given several times",
    )  # fmt: skip
    for role in ("stride", "run-stride"):
        parser.add_argument(
            f"--{role}", metavar="M", type=float,
            help="way of one cycle in meters (default: measured from the planted feet)",
        )  # fmt: skip
    parser.add_argument(
        "--way-per-pose", metavar="M", type=float,
        help=f"ground distance between two poses in meters (default: {Plan().tolerance:g} for "
        "bodies of the size of people)",
    )  # fmt: skip
    parser.add_argument(
        "--faces", metavar="SHARE", type=float, default=1.0, help="share of the faces that is kept"
    )
    parser.add_argument(
        "--levels", metavar="N", type=int, default=0,
        help="further levels of detail for agents that are small in the picture, 0 to 2",
    )  # fmt: skip
    arguments.add_frames(parser, "one cycle, for what moves without an armature (default: 1-24)")
    parser.add_argument(
        "--save", metavar="FILE.blend", type=arguments.path, required=True,
        help="file to write; the file that is read stays as it is, unless it is named here again",
    )  # fmt: skip


def _clip(text: str) -> tuple[str, str]:
    name, _, action = text.partition("=")
    if not name or not action:
        raise argparse.ArgumentTypeError(f"{short(text)} is no clip: give NAME=ACTION")
    return name, action


def _optional(text: str) -> tuple[str, float]:
    try:
        return optional_part(text)
    except CharacterError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def run(options: argparse.Namespace) -> Result:
    """Make the character and save it."""
    start = time.perf_counter()
    batch.check_new_file(options.save, ".blend")
    batch.ensure_registered()
    scene = _open(options.file)
    files.check_no_input(options.save, files.files_read())
    rig = batch.find_rig(scene, options.rig)
    recipe = _recipe(options, rig, _height(scene, rig))
    if not options.quiet:
        tell(
            f"Making a character of {rig.name!r}: stand {recipe.stand or '-'}, walk "
            f"{recipe.walk or '-'}, run {recipe.run or '-'}, feet "
            f"{', '.join(recipe.feet) or 'by motion'}"
        )
        tell(f"About {_memory(scene, rig, recipe)}")
    progress = ProgressLine("Poses", options.quiet)
    made = making.make_character(scene, rig, recipe, progress.share, options.name)
    progress.share(1.0)
    batch.save_file(options.save)
    rows = [
        {
            "name": row.name,
            "poses": row.count,
            "speed": round(row.speed, 4),
            "stride": round(row.stride, 4),
            # gaits do; a clip that ends may go round between its begin and its end
            "loops": row.loops or row.goes_round,
        }
        for row in made.space.rows
    ]
    return Result(
        {
            "command": "character",
            "character": made.character.name,
            "rows": rows,
            "feet": list(made.feet),
            "seconds": round(time.perf_counter() - start, 3),
            "outputs": [str(options.save)],
        },
        [
            *(
                f"{row['name']}: {row['poses']} poses, {row['speed']:.2f} m/s, stride "
                f"{row['stride']:.2f} m"
                for row in rows
            ),
            f"Feet: {', '.join(made.feet) or 'none'}",
            *made.left_out,
            f"{options.save}: {made.character.name!r}, {made.memory}",
        ],
    )


def _open(path: Path) -> bpy.types.Scene:
    if path.suffix.lower() == ".blend":
        return batch.open_file(path)
    scene = staging.empty_scene(range(1, 251))
    importers.import_animated(path)
    return scene


def _memory(scene: bpy.types.Scene, rig: bpy.types.Object, recipe: Recipe) -> str:
    """What the poses may take, as a text; it is known for sure only once they are made."""
    counts = rigs.counts(rig, scene.view_layers[0].depsgraph)
    shown = [count for name, count in counts.items() if name not in recipe.without]
    vertices, faces = (int(recipe.faces * sum(part[k] for part in shown)) for k in (0, 1))
    seconds = rigs.seconds(rig, recipe, scene.render.fps / scene.render.fps_base)
    poses = expected_poses(recipe, _height(scene, rig), seconds)
    return check_memory(poses, vertices, faces, recipe)


def _height(scene: bpy.types.Scene, rig: bpy.types.Object) -> float:
    return rigs.height(rig) * scene_units.meters_per_unit(scene)


def _recipe(options: argparse.Namespace, rig: bpy.types.Object, height: float) -> Recipe:
    guessed = rigs.guess_roles(rig) if rig.type == "ARMATURE" else {}
    given = {role: getattr(options, f"{role}_action") for role in ("stand", "walk", "run")}
    roles: dict[str, Any] = {}
    for role, action in given.items():
        guess = guessed.get(role, "")
        if role != "walk" and guess in given.values():
            guess = ""
        roles[role] = guess if action is None else action
    tolerance = options.way_per_pose
    tolerance = way_per_pose(height) if tolerance is None else tolerance
    plan = Plan(tolerance=tolerance, stride=options.stride, run_stride=options.run_stride)
    frames = options.frames or range(1, 25)
    return Recipe(
        **roles,
        clips=tuple(options.clip),
        plan=plan,
        faces=options.faces,
        without=tuple(options.without),
        optional=tuple(options.optional),
        levels=options.levels,
        once=tuple(options.once),
        loops=tuple(options.loop),
        feet=tuple(options.feet) or rigs.guess_feet(rig),
        frames=(frames[0], frames[-1]),
    )
