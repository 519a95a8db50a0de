"""What the calls beyond those of the framework return: classes with the names of the members that
`vcm schema COMMAND` describes, and how they are made of what the library shows.

Loaded when the first of them is asked for.
"""

import ctypes
import functools
import typing
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, Callable, ClassVar, Dict, List, Optional, Tuple, Type, TypeVar

from ._native import VcmError, decode
from .types import MmapConfig

T = TypeVar("T")
Names = Dict[str, str]  # of members of a struct, where a class has another name for them


@dataclass(frozen=True)
class Gap:
    """A file that was not read completely, and why."""

    file_path: str
    reason: str
    NATIVE: ClassVar[Names] = {"file_path": "path"}


@dataclass(frozen=True)
class FoundPage:
    """A page that holds a file, or a line of it."""

    page_id: str
    scope_id: str
    seq: int
    record: int
    part: int
    parts: int
    start_line: int
    end_line: int


@dataclass(frozen=True)
class ReadItem:
    """Lines of a file, both numbers inclusive, and where they are from."""

    path: str
    start_line: int
    end_line: int
    symbol: Optional[str]
    kind: Optional[str]
    scope_id: Optional[str]
    page_id: Optional[str]
    blob: Optional[str]
    source: str
    tokens: int
    text: str


@dataclass(frozen=True)
class ReadResult:
    """What was read; `rendered` is all of it as one text for a model, with numbered lines."""

    items: List[ReadItem]
    rendered: str
    rendered_tokens: int
    truncated: bool
    lines_left: int
    next_cursor: Optional[str]


@dataclass(frozen=True)
class GrepMatch:
    """A line that matches, and the lines around it."""

    scope_id: Optional[str]
    page_id: Optional[str]
    path: str
    line: Optional[int]
    column: int
    symbol: Optional[str]
    text: str
    before: List[str]
    after: List[str]


@dataclass(frozen=True)
class GrepResult:
    """Lines that match. `total` counts those that are not here, too."""

    matches: List[GrepMatch]
    files: int
    total: int
    searched: int
    complete: bool
    incomplete: List[Gap]
    truncated: bool


@dataclass(frozen=True)
class OutlineSymbol:
    """A definition, its lines and their tokens."""

    name: str
    kind: str
    signature: str
    line: int
    end_line: int
    tokens: int
    container: Optional[str]


@dataclass(frozen=True)
class OutlineFile:
    """A file and its definitions, in order."""

    path: str
    language: Optional[str]
    lines: int
    tokens: int
    symbols: List[OutlineSymbol]


@dataclass(frozen=True)
class OutlineResult:
    """Definitions of files; `rendered` is all of it as one text for a model."""

    files: List[OutlineFile]
    total: int
    others: int
    rendered: str
    rendered_tokens: int
    truncated: bool
    files_left: int
    next_cursor: Optional[str]


@dataclass(frozen=True)
class Symbol:
    """A definition."""

    symbol_id: str
    name: str
    kind: str
    signature: str
    documentation: str
    file_path: str
    line: int
    start_line: int
    end_line: int
    container: Optional[str]
    language: str
    source: str
    visibility: str


@dataclass(frozen=True)
class Symbols:
    """Definitions of a commit by path and line. `total` counts those that are not here, too."""

    symbols: List[Symbol]
    total: int
    truncated: bool
    incomplete: List[Gap]
    commit: Optional[str]


@dataclass(frozen=True)
class Reference:
    """A use of a name."""

    kind: str
    from_symbol: Optional[str]
    file_path: str
    line: int
    excerpt: str
    source: str
    resolution_state: str
    target: Optional[str]
    to_name: str
    to_container_hint: Optional[str]
    candidates: List[str]
    candidates_total: int


@dataclass(frozen=True)
class References:
    """Uses of a name at a commit by path and line. `total` counts those that are not here, too."""

    references: List[Reference]
    total: int
    resolved: int
    truncated: bool
    incomplete: List[Gap]
    commit: Optional[str]


@dataclass(frozen=True)
class RepoMap:
    """The definitions of a repository that are used most, as one text, within a budget."""

    map: str
    tokens: int
    tokens_estimated: int
    files_covered: int
    files_total: int
    files_not_fetched: int
    symbols_shown: int
    symbols_total: int
    symbols_dropped: int
    files_dropped: int
    next: Optional[str]
    next_budget: Optional[int]
    sources: Dict[str, int]
    incomplete: List[Gap]
    commit: Optional[str]
    reason: Optional[str]


@dataclass(frozen=True)
class Change:
    """A file, definition or mapped page that changed between two commits."""

    change: str
    path: str
    old_path: Optional[str]
    symbol: Optional[str]
    old_symbol: Optional[str]
    kind: Optional[str]
    line: Optional[int]
    end_line: Optional[int]
    old_line: Optional[int]
    scope_id: Optional[str]
    page_id: Optional[str]


@dataclass(frozen=True)
class DiffResult:
    """What changed between two commits, by path and line."""

    from_commit: str
    to_commit: str
    by: str
    files: int
    changes: List[Change]
    total: int
    JSON: ClassVar[Names] = {"from_commit": "from", "to_commit": "to"}


@dataclass(frozen=True)
class Readme:
    """The beginning of a repository's README."""

    path: str
    content: str
    truncated: bool


@dataclass(frozen=True)
class Entrypoint:
    """A file that a reader may begin with."""

    path: str
    kind: str


@dataclass(frozen=True)
class FetchedRepository:
    """A clone, and what is in it."""

    clone_path: str
    commit: str
    files: int
    files_not_fetched: int
    tree: List[str]
    tree_total: int
    tree_truncated: bool
    readme: Optional[Readme]
    entrypoints: List[Entrypoint]
    entrypoints_total: int
    doc_hints: List[str]
    signals: Dict[str, Any]


@dataclass(frozen=True)
class TokensFile:
    """A file and its number of tokens."""

    path: str
    bytes: int
    tokens: int


@dataclass(frozen=True)
class TokenCounts:
    """The tokens of files, in one encoding."""

    encoding: str
    files: List[TokensFile]
    total: int


@dataclass(frozen=True)
class MapProblem:
    """An error or a warning in a repo map."""

    line: int
    column: int
    where: str
    message: str


@dataclass(frozen=True)
class MapRoute:
    """A route of the map: where documents go."""

    paths: List[str]
    ingest_to: str
    profile: Optional[str]
    matched_files: Optional[int]


@dataclass(frozen=True)
class CheckedSource:
    """A row of the map, and how many files it matches; None when they cannot be counted here."""

    name: str
    type: str
    matched_files: Optional[int]


@dataclass(frozen=True)
class CheckResult:
    """What is wrong with a repo map, and what it matches."""

    path: str
    has_repo_map_file: bool
    ok: bool
    errors: List[MapProblem]
    warnings: List[MapProblem]
    sources: List[CheckedSource]
    knowledge_routing: List[MapRoute]
    unmapped_files: Optional[int]


@dataclass(frozen=True)
class PreviewSource:
    """What mapping would do with a row: mmap_application_scope(**mmap_kwargs, config=config). A row
    that cannot be resolved has an error, and no arguments."""

    name: str
    scope_id: str
    error: Optional[VcmError]
    mmap_kwargs: Optional[Dict[str, Any]]
    config: MmapConfig


@dataclass(frozen=True)
class PreviewResult:
    """What mapping would do."""

    origin_url: Optional[str]
    branch: Optional[str]
    commit: Optional[str]
    base_scope_id: str
    has_repo_map_file: bool
    sources: List[PreviewSource]
    knowledge_routing: List[MapRoute]


@dataclass(frozen=True)
class MapRow:
    """A row of the map, with defaults filled in."""

    name: str
    type: str
    origin_url: Optional[str]
    submodule: Optional[str]
    branch: Optional[str]
    commit: Optional[str]
    start_dir: Optional[str]
    include_globs: List[str]
    exclude_globs: List[str]
    static: bool
    chunk_target_tokens: int
    chunk_overlap_tokens: int
    NATIVE: ClassVar[Names] = {"static": "is_static"}


@dataclass(frozen=True)
class ShowResult:
    """The repo map of a repository; `raw` is its text, None when there is no file."""

    path: str
    has_repo_map_file: bool
    sources: List[MapRow]
    knowledge_routing: List[MapRoute]
    raw: Optional[str]


@dataclass(frozen=True)
class CoverageFile:
    """A path of a scope's tree, and what became of it; see reasons()."""

    path: str
    outcome: str
    reason: Optional[str]


@dataclass(frozen=True)
class CoverageResult:
    """What became of every path of a scope's tree."""

    scope_id: str
    commit: str
    coverage: Dict[str, int]
    files: List[CoverageFile]


@dataclass(frozen=True)
class EvictedPage:
    """A page after evict(); `skipped` says why it stayed: pinned, locked or viewed."""

    page_id: str
    state: str
    skipped: Optional[str]
    NATIVE: ClassVar[Names] = {"skipped": "stays"}


@dataclass(frozen=True)
class EvictResult:
    """What evict() did: the pages that were named, of a scope or of all those that stayed."""

    pages: List[EvictedPage]
    pages_compressed: int
    pages_evicted: int
    pages_skipped: int


@dataclass(frozen=True)
class InitRef:
    """A ref that a migration rewrote, or would."""

    ref: str
    old: str
    new: Optional[str]
    NATIVE: ClassVar[Names] = {"ref": "name", "old": "old_id", "new": "new_id"}


@dataclass(frozen=True)
class InitFile:
    """A file that a migration would move into LFS."""

    path: str
    versions: int
    bytes: int


@dataclass(frozen=True)
class InitMigration:
    """What a migration would rewrite."""

    files: List[InitFile]
    bytes: int
    commits: int


@dataclass(frozen=True)
class InitResult:
    """What init() wrote: `initialized` or `already_initialized`."""

    status: str
    files_created: List[str]
    committed_sha: Optional[str]
    pushed: bool
    push_error: Optional[str]
    lfs_enabled: bool
    migrated_to_lfs: bool
    migrate_error: Optional[str]
    warnings: List[str]
    refs: List[InitRef]
    dry_run: bool
    migration: Optional[InitMigration]
    NATIVE: ClassVar[Names] = {"files_created": "files", "committed_sha": "commit",
                               "migrated_to_lfs": "migrated"}


@dataclass(frozen=True)
class LfsFile:
    """A file that is kept in LFS."""

    path: str
    oid: str
    size: int
    present: bool


@dataclass(frozen=True)
class LfsGap:
    """A file of which it is not known whether it is kept in LFS."""

    path: str
    reason: str


@dataclass(frozen=True)
class LfsStatus:
    """The files of HEAD that are kept in LFS, and whether their content is here."""

    files: List[LfsFile]
    repo_root: str
    commit: Optional[str]
    lfs_mode: str
    count: int
    bytes: int
    present: int
    missing: int
    bytes_to_fetch: int
    incomplete: List[LfsGap]
    NATIVE: ClassVar[Names] = {"lfs_mode": "mode", "count": "files",
                               "bytes_to_fetch": "missing_bytes"}


@dataclass(frozen=True)
class PulledFile:
    """A file in LFS whose content a mapped row lacked."""

    scope_id: str
    path: str
    oid: str
    size: int
    present: bool
    fetched: bool


@dataclass(frozen=True)
class LfsPull:
    """The content that was fetched; `error` says why some is still missing."""

    files: List[PulledFile]
    fetched: int
    missing: int
    bytes: int
    error: Optional[str]


@dataclass(frozen=True)
class KbFile:
    """What became of a document: ingested, skipped_already_present, failed or removed."""

    source: Optional[str]
    path: str
    status: str
    data_type: Optional[str]
    chunks: int
    message: Optional[str]


@dataclass(frozen=True)
class KbChunk:
    """A chunk of a document: `seq` of `chunks`."""

    chunk_id: str
    source: Optional[str]
    path: str
    section: str
    page: Optional[int]
    data_type: str
    seq: int
    chunks: int
    tokens: int
    text: str


@dataclass(frozen=True)
class KbDocument:
    """A document of the knowledge base."""

    source: Optional[str]
    path: str
    profile: Optional[str]
    data_type: str
    bytes: int
    chunks: int
    tokens: int
    ingested_at: int


@dataclass(frozen=True)
class KbStat:
    """Sums over the knowledge base."""

    documents: int
    sources: int
    chunks: int
    tokens: int
    bytes: int
    file_bytes: int
    schema_version: int


@dataclass(frozen=True)
class PromoteResult:
    """How the map was changed so that literature becomes pages."""

    repo_root: str
    paths: List[str]
    files: int
    changed: bool
    routes_set: int
    route_added: bool
    row: Optional[str]
    row_added: bool
    commit: Optional[str]
    text: str
    NATIVE: ClassVar[Names] = {"paths": "patterns"}


@dataclass(frozen=True)
class VerifyFinding:
    """Something in the store that is wrong."""

    what: str
    where: str


@dataclass(frozen=True)
class VerifyResult:
    """Whether every page and index is what it should be."""

    ok: bool
    pages_checked: int
    findings: List[VerifyFinding]


@dataclass(frozen=True)
class GcResult:
    """What was removed; bytes of the store's file, and of clones."""

    pages_dropped: int
    bytes_before: int
    bytes_after: int
    clones_dropped: int
    clones_kept: int
    clone_bytes: int


@dataclass(frozen=True)
class TopScope:
    """One of the largest scopes."""

    scope_id: str
    pages: int
    bytes: int
    tokens: int


@dataclass(frozen=True)
class TopSample:
    """The state of the store at one time: as get_stats(), with a rate and the largest scopes."""

    stats: Dict[str, Any]
    faults_per_second: Optional[float]
    largest: List[TopScope]


@dataclass(frozen=True)
class TraceAccess:
    """A read of a page, `ms` after the recording began."""

    ms: int
    page_id: str
    bytes: int


@dataclass(frozen=True)
class TraceOutcome:
    """How often a policy would have had the page in memory."""

    policy: str
    capacity: int
    hit_ratio: float
    byte_hit_ratio: float


@dataclass(frozen=True)
class TraceReplay:
    """A trace against every policy."""

    accesses: int
    policies: List[TraceOutcome]


@dataclass(frozen=True)
class Setting:
    """A setting of the home: what is in effect, the default, and whether config.yaml sets it."""

    key: str
    value: Any
    default: Any
    is_set: bool


@dataclass(frozen=True)
class Finding:
    """A check of this machine: ok, warning or error."""

    check: str
    status: str
    detail: str
    remedy: Optional[str]


# How a class is made of a struct

def _count(struct: Any, name: str) -> int:
    """The number of items in an array: `files` has `file_count`, `include_globs` include_count."""
    for count in (name[:-1] + "_count", name + "_count", name.split("_")[0] + "_count"):
        if hasattr(struct, count):
            return int(getattr(struct, count))
    raise AttributeError(f"{type(struct).__name__} has no number of {name}")


def _sized(struct: Any, name: str) -> str:
    length = getattr(struct, name + ("_len" if hasattr(struct, name + "_len") else "_bytes"))
    return ctypes.string_at(getattr(struct, name) or b"", length).decode("utf-8", "replace")


def _list(inner: Any) -> Callable[[Any, str], Any]:
    def convert(struct: Any, name: str) -> Any:
        array = getattr(struct, name)
        return [(decode(array[i]) or "") if inner is str else take(inner, array[i])
                for i in range(_count(struct, name))]
    return convert


def _number(struct: Any, name: str) -> Any:
    """A number that may be missing: less than nothing where it is signed, else nothing."""
    value = getattr(struct, name)
    signed = dict(struct._fields_)[name] is ctypes.c_int64
    return None if value < 0 or (value == 0 and not signed) else value


def _text(struct: Any, name: str) -> Optional[str]:
    if dict(struct._fields_)[name] is ctypes.c_void_p:
        return _sized(struct, name)
    return decode(getattr(struct, name))


def _converter(hint: Any) -> Optional[Callable[[Any, str], Any]]:
    inner = [part for part in typing.get_args(hint) if part is not type(None)]
    if typing.get_origin(hint) is list:
        return _list(inner[0])
    if hint is str:
        return lambda struct, name: _text(struct, name) or ""
    if hint in (int, bool, float):
        return getattr
    if inner and inner[0] is str:
        return _text
    if inner and inner[0] is int:
        return _number
    if inner and is_dataclass(inner[0]):
        return lambda struct, name: (take(inner[0], getattr(struct, name).contents)
                                     if getattr(struct, name) else None)
    return None  # the caller gives it


@functools.lru_cache(maxsize=None)
def _plan(cls: Any) -> List[Tuple[str, str, Callable[[Any, str], Any]]]:
    hints, names = typing.get_type_hints(cls), getattr(cls, "NATIVE", {})
    found = ((field.name, names.get(field.name, field.name), _converter(hints[field.name]))
             for field in fields(cls))
    return [(name, member, converter) for name, member, converter in found if converter]


def take(cls: Type[T], struct: Any, **given: Any) -> T:
    """An object of the class, of the members of a struct and of what is given."""
    for name, member, converter in _plan(typing.cast(Any, cls)):
        if name not in given:
            given[name] = converter(struct, member)
    return cls(**given)


def document(cls: Type[T], found: Dict[str, Any]) -> T:
    """An object of the class, of a JSON object. What the class does not know is left out."""
    hints, names, given = typing.get_type_hints(cls), getattr(cls, "JSON", {}), {}
    for field in fields(cls):
        value, hint = found.get(names.get(field.name, field.name)), hints[field.name]
        inner = [part for part in typing.get_args(hint) if part is not type(None)]
        if value is not None and inner and is_dataclass(inner[0]):
            value = ([document(inner[0], item) for item in value] if isinstance(value, list)
                     else document(inner[0], value))
        given[field.name] = value
    return cls(**given)
