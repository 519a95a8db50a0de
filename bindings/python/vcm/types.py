"""The objects that a manager takes and hands out, with the field names of Colony's."""

import ctypes
from dataclasses import dataclass, field
from typing import Any, Dict, List, Optional

from ._native import REASONS, NativeConfig, PageView, decode, lib


def _number(value: object, name: str, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name} must be a number, not {type(value).__name__}")
    if not least <= value < 2 ** 32:
        raise ValueError(f"{name} must be at least {least}, not {value}")
    return value


@dataclass(frozen=True)
class MmapConfig:
    """How a scope is cut into pages. None leaves it to the row and the configuration.

    The policies are those of Colony; vcm groups by place and cuts at the thresholds, so other
    values than these are refused.
    """

    flush_threshold: Optional[int] = None
    flush_token_budget: Optional[int] = None
    pinned: bool = False
    ingestion_policy_type: str = "group_and_flush"
    locality_policy_type: str = "tag"
    flush_policy_type: str = "threshold"
    flush_interval_seconds: float = 60.0

    def __post_init__(self) -> None:
        if self.flush_threshold is not None:
            _number(self.flush_threshold, "flush_threshold", 1)
        if self.flush_token_budget is not None:
            _number(self.flush_token_budget, "flush_token_budget", 64)
        if not isinstance(self.pinned, bool):
            raise TypeError(f"pinned must be a bool, not {type(self.pinned).__name__}")
        interval = self.flush_interval_seconds
        if isinstance(interval, bool) or not isinstance(interval, (int, float)):
            raise TypeError("flush_interval_seconds must be a number of seconds, not "
                            f"{type(interval).__name__}")
        for name, known in (("ingestion_policy_type", "group_and_flush"),
                            ("locality_policy_type", "tag"), ("flush_policy_type", "threshold")):
            if getattr(self, name) != known:
                raise ValueError(f"{name} must be '{known}', not {getattr(self, name)!r}")

    def native(self) -> Any:
        return NativeConfig(self.flush_threshold or 0, self.flush_token_budget or 0, self.pinned)


@dataclass(frozen=True)
class MmapProgress:
    """How far a mapping is, over all its rows."""

    files: int
    pages: int
    tokens: int
    bytes: int


@dataclass(frozen=True)
class MmapResult:
    """What became of a scope: mapped, already_mapped, remapped, unmapped, not_mapped or error."""

    status: str
    scope_id: str
    message: str = ""
    name: Optional[str] = None
    commit: Optional[str] = None
    tree: Optional[str] = None
    code: Optional[str] = None
    records: int = 0
    pages: int = 0
    tokens: int = 0
    bytes: int = 0
    pages_created: int = 0
    pages_reused: int = 0
    pages_dropped: int = 0
    coverage: Dict[str, int] = field(default_factory=dict)
    elapsed_ms: int = 0


@dataclass(frozen=True)
class Reason:
    """What can become of a path, and why: an outcome, or, with a `reason`, one of its reasons."""

    outcome: str
    reason: Optional[str]
    left_out: bool
    retried: bool
    remedy: Optional[str]


def reasons() -> List[Reason]:
    """All outcomes, then all reasons, as the library has them."""
    return [Reason(decode(info.outcome) or "", decode(info.reason), info.left_out, info.retried,
                   decode(info.remedy)) for info in REASONS]


@dataclass(frozen=True)
class ApplicationRecord:
    """One file, or a part of one, in a page."""

    record_id: str
    path: str
    blob: str
    start_line: int
    end_line: int
    part: int
    parts: int
    tokens: int
    lossy: bool
    media_type: Optional[str]
    text: str


@dataclass(frozen=True)
class PageLock:
    """A lock that keeps a page in memory until it expires, in Unix seconds."""

    page_id: str
    locked_by: str
    lock_expires_at: int
    reason: Optional[str]


@dataclass(frozen=True)
class PageEvent:
    """A page that changed: page_added, page_replaced or page_invalidated."""

    kind: str
    scope_id: str
    page_id: str
    related_page_ids: List[str]
    paths: List[str]


@dataclass(frozen=True)
class SearchHit:
    """A chunk of the knowledge base that matches a query."""

    chunk_id: str
    source: Optional[str]
    path: str
    section: str
    page: Optional[int]
    data_type: str
    score: float
    tokens: int
    text: str


# One type for frames of every length: a view of it is cut to the length that the frame has.
_Frame = ctypes.c_char * (1 << 40)


class _Owner:
    """Gives a view back to the library when nothing looks into it any more."""

    __slots__ = ("pointer", "release")

    def __init__(self, pointer: int):
        self.pointer = pointer
        self.release = lib.vcm_page_view_release

    def __del__(self) -> None:
        self.release(self.pointer)


def frame_of(pointer: int) -> memoryview:
    """The bytes of an open view, which stays open while the memoryview or a slice of it lives."""
    view = PageView.from_address(pointer)
    frame: Any = _Frame.from_address(view.data)
    frame.owner = _Owner(pointer)
    return memoryview(frame).cast("B")[:view.bytes].toreadonly()


class VirtualContextPage:
    """A page: page_id, text, size (tokens), metadata, scope_id, group_id.

    `text` is a read-only memoryview into the map: the serialised records, one a line. It is valid
    until release(), and slices of it are for as long as they live. The page does not leave memory
    meanwhile. Used by the thread of its manager.
    """

    __slots__ = ("page_id", "group_id", "_manager", "_text", "_entry", "_released")

    def __init__(self, manager: Any, page_id: str, text: Optional[memoryview] = None,
                 entry: Optional[Dict[str, Any]] = None):
        self.page_id: str = page_id
        self.group_id: Optional[str] = None
        self._manager = manager
        self._text = text
        self._entry = entry
        self._released = False

    @property
    def text(self) -> memoryview:
        if self._text is None:
            if self._released:
                raise ValueError(f"page {self.page_id} was released")
            self._text = self._manager._open_text(self.page_id)
        return self._text

    def _described(self) -> Dict[str, Any]:
        if self._entry is None:
            self._entry = self._manager._describe(self.page_id)
        return self._entry

    @property
    def size(self) -> int:
        return int(self._described()["tokens"])

    @property
    def scope_id(self) -> str:
        return str(self._described()["scope_id"])

    @property
    def metadata(self) -> Dict[str, Any]:
        entry = self._described()
        files: List[str] = entry["files"]
        return {"source": f"vcm:{entry['scope_id']}", "files": files, "file_count": len(files),
                "content_size_bytes": entry["bytes"], "seq": entry["seq"]}

    def release(self) -> None:
        """Gives the text back; what looks at it afterwards gets a ValueError."""
        text, self._text, self._released = self._text, None, True
        if text is not None:
            text.release()

    def __enter__(self) -> "VirtualContextPage":
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def __repr__(self) -> str:
        return f"VirtualContextPage({self.page_id!r})"
