"""The sentences that the Crowd panel tells, as they stand in the code.

The pages of panels explain each one; tests/test_docs.py compares. What is put into a sentence when
it is told is "…" here.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2] / "steer_addon"
WORDS = 4
"""Strings of fewer words are no sentences."""

TELLERS: dict[str, tuple[str, ...]] = {
    "blender/checks/advice.py": ("<all>",),
    "blender/ui/drawing.py": ("draw_main", "_draw_lack_of_colliders", "bake_lines"),
    "blender/crowd/crowds.py": ("why_not_editable",),
    "blender/ui/drawing_bakes.py": ("<module>",),
    "blender/live/live.py": ("status",),
    "blender/live/live_store.py": ("status", "_show", "_gap"),
    "blender/live/sessions.py": ("warnings",),
    "blender/reading/scene.py": ("_spheres",),
    "blender/reading/scene_view.py": ("is_gone", "hidden"),
    "blender/reading/scene_sources.py": (
        "_values",
        "_part",
        "_read",
        "_paths",
        "_field",
        "_container",
    ),
    "blender/reading/scene_targets.py": ("_slot", "_missing"),
    "blender/reading/scene_shapes.py": ("read_vectors", "extent_defects"),
    "blender/playback/linking.py": ("problem", "limits", "message"),
    "blender/ui/overlay_table.py": ("_draw_table", "_state_lines"),
    "blender/overlay/answers.py": ("<all>",),
    "blender/display/display.py": ("_socket",),
    "core/sensing/declare.py": ("advice",),
    "core/behaviors/arrive.py": ("advice",),
    "core/behaviors/wall_avoidance/behavior.py": ("advice",),
    "core/step/free_goals.py": ("<all>", "<module>"),
    "core/geometry/meshes.py": ("defects",),
    "core/inputs/paths.py": ("make_paths",),
    "core/compiled/jit.py": ("_load",),
}
"""Functions of files that make them; "<module>" is what stands outside of functions."""


def _template(node: ast.AST) -> str | None:
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.JoinedStr):
        return "".join(p.value if isinstance(p, ast.Constant) else "…" for p in node.values)
    return None


def _strings(node: ast.AST) -> Iterator[str]:
    text = _template(node)
    if text is not None:
        yield text
        return
    for child in ast.iter_child_nodes(node):
        # docstrings stand alone
        if not (isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant)):
            yield from _strings(child)


def sentences() -> dict[str, str]:
    """Every sentence, with the file that it comes from."""
    found = {}
    for name, tellers in TELLERS.items():
        tree = ast.parse((ROOT / name).read_text(encoding="utf-8"))
        functions = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)]
        nodes: list[ast.AST] = [n for n in functions if n.name in tellers or "<all>" in tellers]
        if "<module>" in tellers:
            nodes += [n for n in tree.body if isinstance(n, ast.Assign)]
        for node in nodes:
            for text in _strings(node):
                if len(text.split()) >= WORDS:
                    found[text.replace("|", "/")] = name
    return found
