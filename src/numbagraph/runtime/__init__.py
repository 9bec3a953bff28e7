"""Native code at run time: compilation, the cache on disk, calls from Python, guards, memory and threads."""
