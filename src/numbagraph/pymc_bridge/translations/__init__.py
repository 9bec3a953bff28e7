"""Translations of PyTensor's ops to ours, one family a file."""
