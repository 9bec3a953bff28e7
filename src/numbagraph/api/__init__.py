"""The public interface: graph_jit, derivatives, batches, loops, branches and callbacks."""
