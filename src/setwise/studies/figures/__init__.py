"""The figures that only studies have; each function draws on axes, and returns them."""
