"""Emitters that compute one element of a core op: factorisations, solutions and spectra of single matrices."""
