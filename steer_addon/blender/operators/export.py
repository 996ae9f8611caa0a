"""Export a crowd to a file of another program."""

import os
from pathlib import Path

import bpy

from ...core.diagnoses import Diagnosis
from ...core.errors import SceneError
from ..crowd import crowds
from ..export import formats
from ..export.names import FORMATS
from .common import Returned, SteerOperator, pointer_progress, why_no_crowd

FORMAT_ITEMS = tuple(
    (entry.name, entry.label, f"{entry.text} ({entry.suffix})", number)
    for number, entry in enumerate(FORMATS.values())
)


class OBJECT_OT_steer_export(SteerOperator, bpy.types.Operator):
    """Write the crowd to a file for other programs: its bake, or a simulation from its start"""

    bl_idname = "object.steer_export"
    bl_label = "Export Crowd"
    bl_options = {"REGISTER"}
    needs = (why_no_crowd,)

    filepath: bpy.props.StringProperty(
        name="File", description="File to write", subtype="FILE_PATH"
    )
    check_existing: bpy.props.BoolProperty(default=True, options={"HIDDEN"})
    filter_glob: bpy.props.StringProperty(options={"HIDDEN"})
    format: bpy.props.EnumProperty(
        name="Format", description="What kind of file to write", items=FORMAT_ITEMS
    )

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> Returned:
        """Ask for a name; the one proposed is that of the .blend file with the crowd's."""
        chosen = FORMATS[self.format]
        folder = Path(bpy.path.abspath("//") if bpy.data.filepath else os.path.expanduser("~"))
        self.filepath = str(folder / formats.default_name(context.object, chosen))
        self.filter_glob = f"*{chosen.suffix}"
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def run(self, context: bpy.types.Context) -> str:
        """Export, with progress at the pointer."""
        chosen = FORMATS[self.format]
        if not self.filepath:
            raise SceneError("There is no file name: give one")
        path = Path(bpy.path.abspath(self.filepath))
        if path.suffix.lower() != chosen.suffix:
            path = path.with_name(path.name + chosen.suffix)
        warnings: list[Diagnosis] = []
        with pointer_progress(context) as progress:
            made = formats.export_crowd(
                context.object,
                context.scene,
                chosen,
                path,
                numbers=crowds.frame_numbers(context.object),
                progress=progress,
                warnings=warnings,
            )
        self.warn(warnings)
        return (
            f"Exported {made.agents} agents, {made.frames} frames to {path.name} "
            f"({made.size / 1e6:.1f} MB) in {made.seconds:.1f} s"
        )


classes = (OBJECT_OT_steer_export,)
