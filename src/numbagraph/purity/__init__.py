"""What a function reads, writes and calls beside its arguments."""
