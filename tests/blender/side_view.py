"""A picture of bodies from their left, by an orthographic camera."""

from __future__ import annotations

import math

import bpy


def look_from_the_side(width, height, meters, up, samples):
    """Set the scene up for such pictures.

    Args:
        width: Pixels of the picture.
        height: Likewise.
        meters: How wide it is [m].
        up: Height of its middle [m].
        samples: Samples of a pixel.
    """
    scene = bpy.context.scene
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    scene.collection.objects.link(camera)
    scene.camera = camera
    camera.data.type, camera.data.ortho_scale = "ORTHO", meters
    camera.location = (5.0, 0.0, up)
    camera.rotation_euler = (math.pi / 2, 0.0, math.pi / 2)
    render = scene.render
    render.engine, scene.cycles.samples, scene.cycles.use_denoising = "CYCLES", samples, False
    scene.cycles.use_adaptive_sampling = False
    render.resolution_x, render.resolution_y = width, height
    render.film_transparent = True
    render.image_settings.file_format = "PNG"
    render.image_settings.color_mode, render.image_settings.color_depth = "RGBA", "16"
