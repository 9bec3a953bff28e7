"""Functions of NumPy and SciPy that are written in other functions, on traced arrays; most of NumPy's are ops, in
`ops`."""
