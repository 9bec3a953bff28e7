"""What users call: graph_jit, derivatives, batches, loops, branches and callbacks."""
