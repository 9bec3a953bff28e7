"""Emitters of LLVM: of single numbers, of core ops on arrays, and of the calls of libraries."""
