"""The world that a crowd perceives: colliders, targets, paths, fields, containers, spheres."""
