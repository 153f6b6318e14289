"""Load ONNX Runtime, with its telemetry switched off.

In: nothing.  Out: `onnxruntime`.
Always: it sends nothing and leaves nothing behind. Newer versions keep events and an identifier of the machine in the user's cache
folder, to be sent to their maker. Only this variable, set before they are loaded, prevents that; their own function comes too late.
"""

from __future__ import annotations

import os
from typing import Any

_SWITCH = "ORT_DISABLE_TELEMETRY"


def load() -> Any:
    """Import the runtime.

    Raises: ImportError where the extra `[semantic]` is missing.
    """
    os.putenv(_SWITCH, "1")
    import onnxruntime

    return onnxruntime
