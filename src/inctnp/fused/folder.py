"""Where compiled code is kept, and whether it is there: known without loading the compiler.

The folder is named after everything the code depends on, so code of another release, another numba or another
processor is never taken for it, and none of them has to be deleted.
"""

import hashlib
import os
import platform
import sys
from functools import cache
from importlib.metadata import version
from pathlib import Path

from inctnp.atomic import cache_dir

PROCESSOR = Path("/proc/cpuinfo")


def folder() -> Path:
    """In the user's cache directory: the package itself may be installed where nobody can write."""
    return cache_dir() / "fused" / _fingerprint()


def is_compiled() -> bool:
    """Whether an earlier process left compiled code for this one."""
    return any(folder().rglob("*.nbc"))


def writable_folder() -> Path | None:
    """The folder, made if need be; None where that is not allowed."""
    path = folder()
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    return path if os.access(path, os.W_OK) else None


@cache
def _fingerprint() -> str:
    digest = hashlib.sha256(f"{version('numba')} {sys.version_info[:2]} {_processor()}".encode())
    for source in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


def _processor() -> str:
    """Machines that share a home directory do not share all instructions."""
    told = PROCESSOR.read_text().splitlines() if PROCESSOR.exists() else []
    first = (next((line for line in told if line.startswith(key)), "") for key in ("model name", "flags"))
    return " ".join((platform.machine(), platform.processor(), *first))
