"""The figures of studies; each function draws on axes, and returns them."""
