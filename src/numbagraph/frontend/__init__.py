"""From Python functions to graphs, and what users call: compilation, derivatives, batching, gufuncs."""
