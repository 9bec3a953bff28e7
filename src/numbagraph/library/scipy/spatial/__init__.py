"""`scipy.spatial`: trees of points, triangulations and rotations."""
