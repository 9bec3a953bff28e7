"""`numpy.random.Generator` on traced arrays: draws, permutations and choices."""
