"""Translations of PyTensor's ops to numbagraph's, one family a file."""
