"""SciPy's functions on traced arrays, by its modules; `dispatch` finds them."""
