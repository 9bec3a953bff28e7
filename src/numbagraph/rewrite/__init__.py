"""Passes from graph to graph, and from a graph to loop nests."""
