"""Types of sources of the caller: what rows of a map, and mmap_application_scope(), name as their
type."""

import ctypes
import itertools
from typing import Any, Dict, Iterable, List, Protocol, Tuple, Union

from . import _native as native
from ._native import decode

CONTENT_ID_MAX = 32  # bytes


class SourceRow:
    """What a row selects. The source decides what start_dir and the patterns mean to it."""

    __slots__ = ("repository", "commit", "start_dir", "include_globs", "exclude_globs")

    def __init__(self, repository: str, commit: str, start_dir: str, include_globs: List[str],
                 exclude_globs: List[str]):
        self.repository = repository
        self.commit = commit
        self.start_dir = start_dir
        self.include_globs = include_globs
        self.exclude_globs = exclude_globs


class Source(Protocol):
    """A type of source. Its methods are called by threads of the library, several at once."""

    def walk(self, row: SourceRow) -> Iterable[Tuple[str, Union[str, bytes]]]:
        """Every path and the id of its content, of 1 to 32 bytes, in the same order each time.
        Equal ids mean equal text."""

    def read(self, row: SourceRow, path: str) -> Union[str, bytes]:
        """The text of a path. A LookupError or OSError: it cannot be read, counts as failed, and
        the mapping goes on."""


def _strings(array: Any, count: int) -> List[str]:
    return [decode(array[i]) or "" for i in range(count)]


def _fill(error: Any, name: bytes, problem: BaseException) -> int:
    code = native.NOT_FOUND if isinstance(problem, (LookupError, OSError)) else native.INTERNAL
    said = f"source '{name.decode()}': {type(problem).__name__}: {problem}"
    if error:
        native.lib.vcm_error_fill(error, code, b"%s", said.encode("utf-8", "replace"))
    return code


class _Functions:
    """The functions of a definition over a source in Python; rows that are open, by number."""

    def __init__(self, name: bytes, source: Source):
        self.name, self.source = name, source
        self.rows: Dict[int, SourceRow] = {}
        self.numbers = itertools.count(1)

    def open(self, out: Any, _context: Any, row: Any, _error: Any) -> int:
        found = row.contents
        number = next(self.numbers)
        self.rows[number] = SourceRow(
            decode(found.repository) or "", decode(found.commit) or "",
            decode(found.start_dir) or "", _strings(found.include_globs, found.include_count),
            _strings(found.exclude_globs, found.exclude_count))
        out[0] = number
        return native.OK

    def walk(self, number: int, visit: Any, context: Any, error: Any) -> int:
        try:
            for path, content_id in self.source.walk(self.rows[number]):
                name = path.encode("utf-8", "surrogateescape")
                content = content_id.encode() if isinstance(content_id, str) else content_id
                if not 0 < len(content) <= CONTENT_ID_MAX:
                    raise ValueError(f"the content id of '{path}' has {len(content)} bytes, and "
                                     f"must have 1 to {CONTENT_ID_MAX}")
                entry = native.SourceEntry(
                    ctypes.cast(ctypes.c_char_p(name), ctypes.c_void_p), len(name),
                    ctypes.cast(ctypes.c_char_p(content), ctypes.c_void_p), len(content))
                code = int(visit(context, ctypes.byref(entry), error))
                if code != native.OK:
                    return code
        except BaseException as problem:  # it must not cross the library
            return _fill(error, self.name, problem)
        return native.OK

    def read(self, number: int, entry: Any, write: Any, context: Any, error: Any) -> int:
        try:
            path = ctypes.string_at(entry.contents.path, entry.contents.path_len)
            text = self.source.read(self.rows[number], path.decode("utf-8", "surrogateescape"))
            data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else bytes(text)
            return int(write(context, data, len(data), error))
        except BaseException as problem:  # it must not cross the library
            return _fill(error, self.name, problem)

    def close(self, number: int) -> None:
        self.rows.pop(number, None)


def registration(name: bytes, source: Source) -> Any:
    """What vcm_register_source() takes; it has to outlive the handles."""
    functions = _Functions(name, source)
    return native.SourceDefinition(
        name, None, native.SourceOpenFn(functions.open), native.SourceWalkFn(functions.walk),
        native.SourceReadFn(functions.read), native.SourceCloseFn(functions.close))
