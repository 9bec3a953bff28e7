"""From the syntax tree of a function to calls of operators."""
