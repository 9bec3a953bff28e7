"""`scipy.linalg`: factorisations, banded and structured matrices, functions of matrices."""
