"""The same mathematics for thousands of sets at once, on a GPU.

Three steps of the walk take the time and are the same for many sets: bases, lasso codes of a
gallery's columns, and inserting probes. Here they are done for all at once, by products of
large matrices and a few loops of their own; cuts stay on the processor's threads. What comes
out is what the ordinary path gives: exact codes, certified over all atoms.
"""

from setwise.device.devices import (
    Device,
    DeviceAtoms,
    DeviceCodes,
    check_device,
    current_device,
    on_device,
    principal_directions_of_all,
)
from setwise.device.lasso import code_all, insert_all, pools_of_all

__all__ = [
    "Device", "DeviceAtoms", "DeviceCodes", "check_device", "code_all", "current_device",
    "insert_all", "on_device", "pools_of_all", "principal_directions_of_all",
]  # fmt: skip
