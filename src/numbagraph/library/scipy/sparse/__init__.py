"""`scipy.sparse` on traced elements: arrays, vectors, constructions, products and indexing."""
