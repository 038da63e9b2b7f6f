"""setwise."""
