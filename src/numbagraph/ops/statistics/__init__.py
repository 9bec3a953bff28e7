"""Statistics: moments, order statistics, histograms, sorting and sets."""
