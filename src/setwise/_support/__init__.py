"""What no reader of the method needs: threads, memory, progress, locks, compiled kernels."""
