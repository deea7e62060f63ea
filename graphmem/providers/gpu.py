"""Whether this machine has a CUDA device that the sentence-transformers lane can use."""

from __future__ import annotations

import contextlib
import ctypes
import importlib.metadata
import importlib.util
import os
import sys


def cuda_lane_usable() -> bool:
    """Whether the extra is installed with a CUDA build of torch and a device is visible.

    Asks the driver's management library and imports nothing: torch takes seconds to import,
    and initialising CUDA here would break processes that are forked later.
    """
    if importlib.util.find_spec("sentence_transformers") is None:
        return False
    try:
        cpu_build = importlib.metadata.version("torch").endswith("+cpu")
    except importlib.metadata.PackageNotFoundError:
        return False
    return not cpu_build and not _hidden() and _devices() > 0


def _hidden() -> bool:
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    return visible is not None and visible.strip() in {"", "-1"}


def _devices() -> int:
    count = ctypes.c_uint(0)
    name = "nvml.dll" if sys.platform == "win32" else "libnvidia-ml.so.1"
    # Neither the library nor its functions exist where there is no driver.
    with contextlib.suppress(OSError, AttributeError):
        nvml = ctypes.CDLL(name)
        if nvml.nvmlInit_v2() == 0:
            nvml.nvmlDeviceGetCount_v2(ctypes.byref(count))
            nvml.nvmlShutdown()
    return count.value
