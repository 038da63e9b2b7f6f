"""Known public datasets with their protocols, and made ones."""
