"""`python -m bench [NAME …]`: run the measurements and print their tables."""
