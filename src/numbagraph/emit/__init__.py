"""From a program of loop nests to LLVM."""
