"""`scipy.stats`: densities, distribution functions, quantiles and moments."""
