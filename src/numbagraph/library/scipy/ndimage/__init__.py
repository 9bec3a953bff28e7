"""`scipy.ndimage`: filters, morphology and interpolation of images."""
