"""The emission of LLVM for programs of loop nests."""
