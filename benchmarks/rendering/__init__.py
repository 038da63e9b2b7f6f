"""Objects on a turntable, rendered: sets of images with labels where no real ones are at hand.

For benchmarks and pictures only, and no part of the package.
"""

from rendering.objects import make_object_views, object_view_angles, object_view_outliers

__all__ = ["make_object_views", "object_view_angles", "object_view_outliers"]
