"""What Blender imports when the extension is enabled; all else is in steer_addon."""

from .steer_addon import register, unregister
