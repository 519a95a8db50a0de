"""What callers hand in, as the library takes it: of the right type and in range, or an exception
that names the argument."""

import ctypes
import math
import os
from typing import Any, Dict, List, Optional

from . import _native as native
from .types import MmapConfig, VirtualContextPage

LOCK_SECONDS_MAX = 87840 * 3600  # the library's bound


def flag(value: object, name: str) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"{name} must be a bool, not {type(value).__name__}")
    return value


def count(value: object, name: str, *, least: int = 0, most: int = 2 ** 32 - 1) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name} must be a number, not {type(value).__name__}")
    if not least <= value <= most:
        raise ValueError(f"{name} must be from {least} to {most}, not {value}")
    return value


def seconds(value: object, name: str) -> int:
    """Seconds, at most as many as a lock may last, as the milliseconds that the library takes."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{name} must be a number of seconds, not {type(value).__name__}")
    if not 0 < value <= LOCK_SECONDS_MAX:
        raise ValueError(f"{name} must be more than 0 and at most {LOCK_SECONDS_MAX} (ten years), "
                         f"not {value}")
    return max(1, int(value * 1000))


def timeout(value: object, name: str) -> Optional[float]:
    """Seconds to wait; None for as long as it takes."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{name} must be a number of seconds, not {type(value).__name__}")
    if math.isnan(value) or value < 0:
        raise ValueError(f"{name} must not be less than 0, not {value}")
    return float(value)


def text(value: object, name: str) -> bytes:
    """A string that must be there."""
    encoded = native.encode(value, name)
    if encoded is None:
        raise TypeError(f"{name} must be a string, not None")
    return encoded


def page_id(page: object) -> str:
    """The id of a page, or of a page object."""
    if isinstance(page, VirtualContextPage):
        return page.page_id
    if not isinstance(page, str):
        raise TypeError(f"page_id must be a string, not {type(page).__name__}")
    return page


def page_ids(pages: Any) -> List[str]:
    if isinstance(pages, (str, VirtualContextPage)):
        return [page_id(pages)]
    if isinstance(pages, bytes) or not hasattr(pages, "__iter__"):
        raise TypeError(f"page_ids must be a page id or a list, not {type(pages).__name__}")
    return [page_id(page) for page in pages]


def function(value: object, name: str) -> None:
    if value is not None and not callable(value):
        raise TypeError(f"{name} must be a function, not {type(value).__name__}")


def config(value: Optional[MmapConfig], name: str) -> Any:
    if value is None:
        return None
    if not isinstance(value, MmapConfig):
        raise TypeError(f"{name} must be a MmapConfig, not {type(value).__name__}")
    return ctypes.pointer(value.native())


def documents(value: Optional[Dict[str, bytes]], name: str) -> List[Any]:
    if value is None:
        return []
    if not isinstance(value, dict):
        raise TypeError(f"{name} must be a dict of bytes by name, not {type(value).__name__}")
    held = []
    for key, data in value.items():
        if not isinstance(data, bytes):
            raise TypeError(f"{name}[{key!r}] must be bytes, not {type(data).__name__}")
        held.append(native.KbBytes(text(key, name), data, len(data)))
    return held


def names(value: Any, name: str) -> Any:
    """One string or several, as a list."""
    return [value] if isinstance(value, (str, os.PathLike)) else value


def sources(value: Any, name: str) -> Dict[bytes, Any]:
    """Types of sources by name; each has a walk() and a read()."""
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise TypeError(f"{name} must be a dict of sources by name, not {type(value).__name__}")
    for key, source in value.items():
        for method in ("walk", "read"):
            if not callable(getattr(source, method, None)):
                raise TypeError(f"{name}[{key!r}] must have a method {method}(), and "
                                f"{type(source).__name__} has none")
    return {text(key, name): source for key, source in value.items()}


def milliseconds(value: object, name: str) -> int:
    """Seconds, or None for the library's default, as milliseconds."""
    if value is None:
        return 0
    return min(seconds(value, name), 2 ** 32 - 1)
