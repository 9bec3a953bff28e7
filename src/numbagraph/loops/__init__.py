"""Loop nests: the program that a graph becomes, and the passes that make and improve it."""
