"""What can be configured: declared once with default, bounds and help; read from flags, environment and one file; written back."""
