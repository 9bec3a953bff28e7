"""The array IR: types, graphs of values, ops, and symbolic lengths."""
