"""A compiled function: its arguments, its versions, its calls."""
