"""`scipy.signal`: convolutions, recursive filters, resampling, windows and waveforms."""
