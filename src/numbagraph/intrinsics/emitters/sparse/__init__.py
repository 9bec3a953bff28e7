"""Products and solutions with compressed sparse matrices."""
