"""Benchmarks of numbagraph beside its peers: one registry of workloads, read by asv and by `compare`."""
