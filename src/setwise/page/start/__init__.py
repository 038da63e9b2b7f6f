"""From a heap of photos to a gallery: groups are found, and people name and correct them."""
