"""Pictures as functions on axes."""
