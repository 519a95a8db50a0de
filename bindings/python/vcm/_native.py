"""<vcm/vcm.h> for ctypes: the structs that the binding uses, the library, and its errors.

Calls release the interpreter's lock. Layouts are compared with the recorded interface of the
library (api/libvcm.abi) by a test.
"""

import ctypes
import ctypes.util
import os
from ctypes import (CFUNCTYPE, POINTER, Structure, c_bool, c_char, c_char_p, c_double, c_int,
                    c_int64, c_size_t, c_uint, c_uint32, c_uint64, c_void_p)
from typing import Any, Dict, Iterator, List, Optional, Tuple

TEXTS = POINTER(c_char_p)


def _struct(name: str, *fields: Any) -> Any:
    return type(name, (Structure,), {"_fields_": list(fields)})


def _texts(*names: str) -> Any:
    return [(name, c_char_p) for name in names]


def _u64(*names: str) -> Any:
    return [(name, c_uint64) for name in names]


def _candidates() -> Iterator[str]:
    named = os.environ.get("VCM_LIBRARY")
    if named:
        yield named
        return
    here = os.path.dirname(os.path.abspath(__file__))
    for name in ("lib/libvcm.so.0", "libvcm.so.0", "libvcm.so"):
        if os.path.exists(os.path.join(here, name)):
            yield os.path.join(here, name)
    yield "libvcm.so.0"


def _open() -> Any:
    tried = []
    for name in _candidates():
        try:
            return ctypes.CDLL(name)
        except OSError as error:
            tried.append(str(error))
    raise ImportError("libvcm cannot be loaded; install it, put it next to this package, or name "
                      "it in VCM_LIBRARY: " + "; ".join(tried))


_library = _open()

ReasonInfo = _struct("vcm_reason_info", *_texts("outcome", "reason", "word"), ("left_out", c_bool),
                     ("retried", c_bool), *_texts("remedy"))


def _reasons() -> List[Any]:
    """The library's table of outcomes and reasons; what has no reason is an outcome."""
    listed, count = _library.vcm_reason_list, c_size_t()
    listed.restype, listed.argtypes = POINTER(ReasonInfo), [POINTER(c_size_t)]
    found = listed(ctypes.byref(count))
    return [found[i] for i in range(count.value)]


REASONS = _reasons()

Error = _struct("vcm_error", ("code", c_int), ("sys_errno", c_int), ("message", c_char * 512),
                ("context", c_char * 256), ("details", c_char * 1024))
LogFn = CFUNCTYPE(None, c_void_p, c_int, c_char_p)
Log = _struct("vcm_log", ("write", LogFn), ("context", c_void_p), ("level", c_int))
Cancel = _struct("vcm_cancel", ("requested", c_int))
OpenOptions = _struct("vcm_open_options", *_texts("home"), ("log", POINTER(Log)),
                      ("cancel", POINTER(Cancel)), ("fault_workers", c_uint))
Coverage = _struct("vcm_coverage", *_u64("tracked", *(info.outcome.decode() for info in REASONS
                                                      if info.reason is None)))
Progress = _struct("vcm_progress", *_u64("files", "pages", "tokens", "bytes", "files_total"))
ProgressFn = CFUNCTYPE(None, c_void_p, POINTER(Progress))
MapSource = _struct("vcm_map_source", *_texts("name", "scope_id"), ("status", c_int),
                    ("code", c_int), *_texts("message", "commit", "tree"),
                    *_u64("records", "pages", "tokens", "bytes", "pages_created", "pages_reused",
                          "pages_dropped"), ("coverage", Coverage), *_u64("elapsed_ms"))
# A prefix: what follows is not read here.
MapResult = _struct("vcm_map_result", *_texts("repo_root", "origin_url", "branch", "commit", "tree"),
                    ("worktree_changes", c_int64), *_texts("base_scope_id"), ("status", c_int),
                    ("sources", POINTER(MapSource)), ("source_count", c_size_t))
NativeConfig = _struct("vcm_mmap_config", ("flush_threshold", c_uint32),
                       ("flush_token_budget", c_uint32), ("pinned", c_bool))
MaterializeOptions = _struct(
    "vcm_materialize_options", *_texts("origin_url", "branch", "commit", "base_scope_id"),
    ("config", POINTER(NativeConfig)), ("enabled_sources", TEXTS), ("enabled_count", c_size_t),
    ("replace", c_bool), ("jobs", c_uint), ("timeout_ms", c_uint), ("progress", ProgressFn),
    ("progress_context", c_void_p))
MmapOptions = _struct(
    "vcm_mmap_options", *_texts("scope_id", "source_type", "origin_url", "branch", "commit"),
    ("config", POINTER(NativeConfig)), *_texts("start_dir"), ("include_globs", TEXTS),
    ("include_count", c_size_t), ("exclude_globs", TEXTS), ("exclude_count", c_size_t),
    *_texts("binary_policy"), ("is_static", c_bool), ("chunk_target_tokens", c_uint32),
    ("chunk_overlap_tokens", c_int64), ("replace", c_bool), ("jobs", c_uint),
    ("timeout_ms", c_uint), ("progress", ProgressFn), ("progress_context", c_void_p))
MapOptions = _struct(
    "vcm_map_options", *_texts("repository", "base_scope_id", "branch", "commit"),
    ("worktree", c_bool), ("only", TEXTS), ("only_count", c_size_t), ("flush_threshold", c_uint32), ("flush_token_budget", c_uint32),
    ("pinned", c_bool), ("replace", c_bool), ("nested_scope", c_bool), ("knowledge", c_bool),
    ("only_live", c_bool), ("offline", c_bool), ("jobs", c_uint), ("timeout_ms", c_uint),
    ("progress", ProgressFn), ("progress_context", c_void_p))
MapProblem = _struct("vcm_map_problem", ("is_warning", c_bool), ("line", c_uint),
                     ("column", c_uint), *_texts("where", "message"))
MapRow = _struct("vcm_map_row", *_texts("name", "type", "origin_url", "submodule", "branch",
                                        "commit", "start_dir"), ("include_globs", TEXTS),
                 ("include_count", c_size_t), ("exclude_globs", TEXTS),
                 ("exclude_count", c_size_t), ("include_binaries", c_bool), ("is_static", c_bool),
                 ("chunk_target_tokens", c_uint32), ("chunk_overlap_tokens", c_uint32),
                 ("flush_threshold", c_uint32), ("flush_token_budget", c_uint32),
                 ("pinned", c_bool), ("is_literature", c_bool), ("sets", c_uint32),
                 ("matched_files", c_int64), *_texts("scope_id", "call_origin_url", "call_branch",
                                                     "call_commit"), ("error", POINTER(Error)))
MapRoute = _struct("vcm_map_route", ("paths", TEXTS), ("path_count", c_size_t),
                   *_texts("ingest_to", "profile"), ("matched_files", c_int64))
MapReport = _struct("vcm_map_report", *_texts("path", "repo_root"), ("is_bare", c_bool),
                    ("has_repo_map_file", c_bool), ("raw", c_void_p), ("raw_len", c_size_t),
                    *_texts("origin_url", "branch", "commit", "base_scope_id"), ("ok", c_bool),
                    ("problems", POINTER(MapProblem)), ("problem_count", c_size_t),
                    ("rows", POINTER(MapRow)), ("row_count", c_size_t),
                    ("routes", POINTER(MapRoute)), ("route_count", c_size_t),
                    ("unmapped_files", c_int64))
MapQuery = _struct("vcm_map_query", *_texts("repository", "base_scope_id", "origin_url", "branch",
                                            "commit"), ("only", TEXTS), ("only_count", c_size_t),
                   ("from_commit", c_bool), ("flush_threshold", c_uint32),
                   ("flush_token_budget", c_uint32), ("pinned", c_bool), ("even_invalid", c_bool),
                   ("timeout_ms", c_uint))
PageEvent = _struct("vcm_page_event", *_texts("event", "scope_id", "page_id", "old_page_id"),
                    ("paths", TEXTS), ("path_count", c_size_t))
MappedFn = CFUNCTYPE(c_int, c_void_p, POINTER(MapResult), POINTER(Error))
PageEventFn = CFUNCTYPE(c_int, c_void_p, POINTER(PageEvent), POINTER(Error))
IdleFn = CFUNCTYPE(c_int, c_void_p, POINTER(Error))
WatchOptions = _struct("vcm_watch_options", ("map", MapOptions), *_u64("poll_ms"),
                       ("map_first", c_bool), ("mapped", MappedFn), ("event", PageEventFn),
                       ("idle", IdleFn), ("context", c_void_p))
ScopeInfo = _struct("vcm_scope_info", *_texts("scope_id", "name", "type", "repo_root",
                                              "origin_url", "branch", "commit", "tree"),
                    ("flush_threshold", c_uint32), ("flush_token_budget", c_uint32),
                    ("pinned", c_bool), *_u64("records", "pages", "tokens", "bytes"),
                    ("coverage", Coverage), *_u64("mapped_at"))
CoverageFile = _struct("vcm_coverage_file", *_texts("path", "outcome", "reason"))
CoverageQuery = _struct("vcm_coverage_query", *_texts("scope", "reason"))
PageEntry = _struct("vcm_page_entry", *_texts("page_id", "scope_id"), ("seq", c_uint32),
                    ("records", c_uint32), ("tokens", c_uint32), *_u64("bytes"),
                    *_texts("state"), ("pinned", c_bool), ("is_volatile", c_bool),
                    *_u64("locked_until"), ("files", TEXTS), ("file_count", c_size_t))
PagesQuery = _struct("vcm_pages_query", *_texts("scope", "path", "state"), ("pinned", c_bool),
                     ("limit", c_uint32), *_texts("cursor", "repo"))
PageQuery = _struct("vcm_page_query", *_texts("page", "scope"), ("seq", c_int64))
FindEntry = _struct("vcm_find_entry", *_texts("page_id", "scope_id"), ("seq", c_uint32),
                    ("record", c_uint32), *_texts("path"), ("line", c_uint32),
                    ("part", c_uint32), ("parts", c_uint32), ("start_line", c_uint32),
                    ("end_line", c_uint32))
FindQuery = _struct("vcm_find_query", *_texts("path", "scope", "repo"))
RecordQuery = _struct("vcm_record_query", *_texts("record", "scope", "path"))
PageView = _struct("vcm_page_view", *_texts("page_id"), ("data", c_void_p), ("bytes", c_size_t))
PageOutcome = _struct("vcm_page_outcome", *_texts("page_id", "state", "fault", "stays"),
                      *_u64("locked_until"), ("error", POINTER(Error)))
FaultQuery = _struct("vcm_fault_query", ("pages", TEXTS), ("count", c_size_t),
                     ("priority", c_uint), *_u64("lock_ms"), *_texts("owner", "reason"))
LockQuery = _struct("vcm_lock_query", ("pages", TEXTS), ("count", c_size_t), *_texts("owner"),
                    *_u64("ttl_ms"), *_texts("reason"), ("force", c_bool))
LockEntry = _struct("vcm_lock_entry", *_texts("page_id", "owner", "reason"),
                    *_u64("locked_until"))
PinOutcome = _struct("vcm_pin_outcome", *_texts("scope_id", "page_id"), ("changed", c_bool))
EvictQuery = _struct("vcm_evict_query", ("pages", TEXTS), ("count", c_size_t), *_texts("scope"),
                     ("all", c_bool), *_texts("target"))
EvictResult = _struct("vcm_evict_result", *_u64("pages_compressed", "pages_evicted",
                                                "pages_stayed"))
Stat = _struct("vcm_stat", *_texts("home"), ("format_version", c_uint32),
               ("tokenizer", c_char * 32),
               *_u64("scopes", "pages", "pages_resident", "pages_compressed", "pages_evicted",
                     "pages_pinned", "pages_locked", "bytes_resident", "bytes_compressed",
                     "bytes_capacity", "bytes_file", "tokens", "hits", "minor_faults",
                     "major_faults", "evictions", "private_answers"), *_texts("policy"))
TopScope = _struct("vcm_top_scope", ("scope_id", c_char * 258), *_u64("pages", "bytes", "tokens"))
TopSample = _struct("vcm_top_sample", ("stat", Stat), ("has_rate", c_bool),
                    ("faults_per_second", c_double), ("scopes", POINTER(TopScope)),
                    ("scope_count", c_size_t))
TopFn = CFUNCTYPE(c_int, c_void_p, POINTER(TopSample), POINTER(Error))
TopOptions = _struct("vcm_top_options", *_u64("interval_ms", "count"), ("visit", TopFn),
                     ("idle", IdleFn), ("context", c_void_p))
VerifyFinding = _struct("vcm_verify_finding", *_texts("what", "where"))
VerifyResult = _struct("vcm_verify_result", ("ok", c_bool), *_u64("pages_checked", "findings"))
GcCounts = _struct("vcm_gc_counts", *_u64("pages_dropped", "bytes_before", "bytes_after"))
GcCloneCounts = _struct("vcm_gc_clone_counts", *_u64("dropped", "kept", "bytes"))
TraceAccess = _struct("vcm_trace_access", *_u64("ms"), *_texts("page_id"), *_u64("bytes"))
TraceAccessFn = CFUNCTYPE(c_int, c_void_p, POINTER(TraceAccess), POINTER(Error))
TraceRecordOptions = _struct("vcm_trace_record_options", *_u64("duration_ms", "count"),
                             ("visit", TraceAccessFn), ("idle", IdleFn), ("context", c_void_p))
TraceRecorded = _struct("vcm_trace_recorded", *_u64("accesses", "lost"))
TraceOutcome = _struct("vcm_trace_outcome", *_texts("policy"), *_u64("capacity"),
                       ("hit_ratio", c_double), ("byte_hit_ratio", c_double))
ConfigEntry = _struct("vcm_config_entry", *_texts("key", "value", "default_value"),
                      ("is_number", c_bool), ("is_bool", c_bool), ("is_set", c_bool))
Finding = _struct("vcm_finding", *_texts("check"), ("status", c_int), *_texts("detail", "remedy"))
TokensFile = _struct("vcm_tokens_file", *_texts("path", "encoding"), *_u64("bytes", "tokens"),
                     ("error", POINTER(Error)))
TokensQuery = _struct("vcm_tokens_query", ("paths", TEXTS), ("count", c_size_t),
                      *_texts("encoding"))
LfsFile = _struct("vcm_lfs_file", *_texts("scope_id", "path", "oid"), *_u64("size"),
                  ("present", c_bool), ("fetched", c_bool))
LfsGap = _struct("vcm_lfs_gap", *_texts("path", "reason"))
LfsSummary = _struct("vcm_lfs_summary", *_texts("repo_root", "commit", "mode"),
                     *_u64("files", "bytes", "present", "fetched", "missing", "missing_bytes"),
                     *_texts("error"), ("incomplete", POINTER(LfsGap)),
                     ("incomplete_count", c_size_t))
InitOptions = _struct("vcm_init_options", *_texts("directory", "tenant", "colony", "program",
                                                  "author"), ("co_authors", TEXTS),
                      ("co_author_count", c_size_t), *_texts("message"), ("no_lfs", c_bool),
                      ("no_push", c_bool), ("push_all", c_bool), ("migrate", c_bool),
                      ("dry_run", c_bool))
InitRef = _struct("vcm_init_ref", *_texts("name", "old_id", "new_id"))
InitFile = _struct("vcm_init_file", *_texts("path"), *_u64("versions", "bytes"))
InitMigration = _struct("vcm_init_migration", ("files", POINTER(InitFile)),
                        ("file_count", c_size_t), *_u64("bytes", "commits"))
InitResult = _struct("vcm_init_result", *_texts("repo_root"), ("dry_run", c_bool),
                     ("initialized", c_bool), ("files", TEXTS), ("file_count", c_size_t),
                     *_texts("commit"), ("pushed", c_bool), *_texts("push_error"),
                     ("push_failed", c_bool), ("lfs_enabled", c_bool), ("migrated", c_bool),
                     *_texts("migrate_error"), ("refs", POINTER(InitRef)), ("ref_count", c_size_t),
                     ("migration", POINTER(InitMigration)), ("warnings", TEXTS),
                     ("warning_count", c_size_t))
RepoFetchOptions = _struct("vcm_repo_fetch_options", *_texts("url", "ref", "subpath", "dest"),
                           ("depth", c_uint), ("timeout_ms", c_uint))
RepoMapOptions = _struct("vcm_repo_map_options", *_texts("path", "commit"), *_u64("token_budget"),
                         ("include", TEXTS), ("include_count", c_size_t), ("focus", TEXTS),
                         ("focus_count", c_size_t), ("mentions", TEXTS),
                         ("mention_count", c_size_t), ("by_symbol_count", c_bool),
                         ("worktree", c_bool), ("progress", ProgressFn), ("progress_context", c_void_p))
SymbolQuery = _struct("vcm_symbol_query", *_texts("path", "commit"), ("kinds", TEXTS),
                      ("kind_count", c_size_t), *_texts("file", "name", "from_file"),
                      ("from_line", c_uint32), *_u64("limit"), ("worktree", c_bool),
                      ("progress", ProgressFn), ("progress_context", c_void_p))
ReferenceQuery = _struct("vcm_reference_query", *_texts("path", "commit", "name", "from_file"),
                         ("from_line", c_uint32), *_u64("limit"), ("worktree", c_bool),
                         ("progress", ProgressFn), ("progress_context", c_void_p))
DiffQuery = _struct("vcm_diff_query", *_texts("repo", "range", "by"))
PlaceQuery = _struct("vcm_place_query", *_texts("repo", "scope", "commit"), ("worktree", c_bool),
                     ("all_scopes", c_bool))
GrepQuery = _struct("vcm_grep_query", *_texts("pattern"), ("ignore_case", c_bool),
                    ("word", c_bool), ("literal", c_bool), ("files_only", c_bool),
                    ("context", c_uint32), ("paths", TEXTS), ("path_count", c_size_t),
                    ("place", PlaceQuery), ("scopes", TEXTS), ("scope_count", c_size_t),
                    *_u64("limit"), *_texts("from_scope", "from_path"), *_u64("from_line"))
GrepMatch = _struct("vcm_grep_match", *_texts("scope_id", "page_id", "path"), ("line", c_uint32),
                    ("column", c_uint32), *_texts("symbol", "text"), ("before", TEXTS),
                    ("after", TEXTS), ("before_count", c_size_t), ("after_count", c_size_t))
GrepGap = _struct("vcm_grep_gap", *_texts("path", "reason"))
GrepMatchFn = CFUNCTYPE(c_int, c_void_p, POINTER(GrepMatch), POINTER(Error))
GrepGapFn = CFUNCTYPE(c_int, c_void_p, POINTER(GrepGap), POINTER(Error))
GrepVisitor = _struct("vcm_grep_visitor", ("match", GrepMatchFn), ("gap", GrepGapFn),
                      ("context", c_void_p))
GrepResult = _struct("vcm_grep_result", *_u64("total", "files", "searched", "gaps"),
                     ("complete", c_bool), ("truncated", c_bool))
ReadQuery = _struct("vcm_read_query", ("place", PlaceQuery), ("what", TEXTS),
                    ("what_count", c_size_t), ("context", c_uint32), *_texts("format"),
                    *_u64("max_tokens"), *_texts("cursor"))
ReadItem = _struct("vcm_read_item", *_texts("path"), ("start_line", c_uint32),
                   ("end_line", c_uint32), *_texts("symbol", "kind", "scope_id", "page_id", "blob",
                                                   "source"), *_u64("tokens"), *_texts("heading"),
                   ("text", c_void_p), ("text_len", c_size_t))
ReadResult = _struct("vcm_read_result", ("items", POINTER(ReadItem)), ("item_count", c_size_t),
                     ("rendered", c_void_p), ("rendered_bytes", c_size_t),
                     *_u64("rendered_tokens"), ("truncated", c_bool), *_u64("lines_left"),
                     *_texts("next_cursor"))
OutlineQuery = _struct("vcm_outline_query", ("place", PlaceQuery), ("what", TEXTS),
                       ("what_count", c_size_t), *_u64("max_tokens"), *_texts("cursor"))
OutlineSymbol = _struct("vcm_outline_symbol", *_texts("name", "kind", "signature"),
                        ("line", c_uint32), ("end_line", c_uint32), *_u64("tokens"),
                        *_texts("container"))
OutlineFile = _struct("vcm_outline_file", *_texts("path", "language"), ("lines", c_uint32),
                      *_u64("tokens"), ("symbols", POINTER(OutlineSymbol)),
                      ("symbol_count", c_size_t))
OutlineResult = _struct("vcm_outline_result", ("files", POINTER(OutlineFile)),
                        ("file_count", c_size_t), *_u64("total", "others"),
                        ("rendered", c_void_p), ("rendered_bytes", c_size_t),
                        *_u64("rendered_tokens"), ("truncated", c_bool), *_u64("files_left"),
                        *_texts("next_cursor"))
SourceRow = _struct("vcm_source_row", *_texts("repository", "commit", "start_dir"),
                    ("include_globs", TEXTS), ("include_count", c_size_t),
                    ("exclude_globs", TEXTS), ("exclude_count", c_size_t))
SourceEntry = _struct("vcm_source_entry", ("path", c_void_p), ("path_len", c_size_t),
                      ("content_id", c_void_p), ("content_id_len", c_size_t))
SourceEntryFn = CFUNCTYPE(c_int, c_void_p, POINTER(SourceEntry), c_void_p)
SourceTextFn = CFUNCTYPE(c_int, c_void_p, c_char_p, c_size_t, c_void_p)
SourceOpenFn = CFUNCTYPE(c_int, POINTER(c_void_p), c_void_p, POINTER(SourceRow), POINTER(Error))
SourceWalkFn = CFUNCTYPE(c_int, c_void_p, SourceEntryFn, c_void_p, POINTER(Error))
SourceReadFn = CFUNCTYPE(c_int, c_void_p, POINTER(SourceEntry), SourceTextFn, c_void_p,
                         POINTER(Error))
SourceCloseFn = CFUNCTYPE(None, c_void_p)
SourceDefinition = _struct("vcm_source_definition", *_texts("name"), ("context", c_void_p),
                           ("open", SourceOpenFn), ("walk", SourceWalkFn), ("read", SourceReadFn),
                           ("close", SourceCloseFn))
KbFile = _struct("vcm_kb_file", *_texts("source", "path", "status", "data_type"),
                 *_u64("chunks"), ("code", c_int), *_texts("message"))
KbBytes = _struct("vcm_kb_bytes", *_texts("name"), ("data", c_char_p), ("len", c_size_t))
KbPassedOver = _struct("vcm_kb_passed_over", *_u64("hidden", "links", "others"))
KbIngestOptions = _struct("vcm_kb_ingest_options", ("files", TEXTS), ("file_count", c_size_t),
                          ("documents", POINTER(KbBytes)), ("document_count", c_size_t),
                          *_texts("source", "repository", "profile"), ("jobs", c_uint),
                          ("passed_over", POINTER(KbPassedOver)))
KbChunk = _struct("vcm_kb_chunk", *_texts("chunk_id", "source", "path", "section"),
                  ("page", c_uint32), *_texts("profile", "data_type"), *_u64("seq", "chunks"),
                  ("tokens", c_uint32), ("text", c_void_p), ("text_len", c_size_t),
                  ("score", c_double), *_texts("snippet"))
KbFilter = _struct("vcm_kb_filter", *_texts("source", "path", "profile"))
KbSearchOptions = _struct("vcm_kb_search_options", *_texts("query"), ("filter", KbFilter),
                          ("limit", c_uint32), *_u64("max_tokens"))
KbDocument = _struct("vcm_kb_document", *_texts("source", "path", "profile", "data_type"),
                     *_u64("bytes", "chunks", "tokens", "ingested_at"))
KbClearOptions = _struct("vcm_kb_clear_options", ("filter", KbFilter), *_texts("repository"),
                         ("route", c_uint32))
KbStat = _struct("vcm_kb_stat", *_u64("documents", "sources", "chunks", "tokens", "bytes",
                                      "file_bytes"), ("schema_version", c_uint32))
PromoteOptions = _struct("vcm_promote_options", *_texts("repository"), ("paths", TEXTS),
                         ("path_count", c_size_t), ("dry_run", c_bool))
PromoteResult = _struct("vcm_promote_result", *_texts("repo_root"), ("patterns", TEXTS),
                        ("pattern_count", c_size_t), *_u64("files", "routes_set"),
                        ("route_added", c_bool), *_texts("row"), ("row_added", c_bool),
                        *_texts("commit", "text"), ("changed", c_bool))
Record = _struct("vcm_record", *_texts("record_id", "path", "blob"), ("start_line", c_uint32),
                 ("end_line", c_uint32), ("part", c_uint32), ("parts", c_uint32),
                 ("tokens", c_uint32), ("lossy", c_bool), ("path_lossy", c_bool),
                 *_texts("media_type"), *_u64("size"), *_texts("section"), ("page", c_uint32),
                 *_texts("heading"), ("text", c_void_p), ("text_len", c_size_t))
Page = _struct("vcm_page", *_texts("page_id"), ("scopes", TEXTS), ("scope_count", c_size_t),
               *_texts("scope_id"), ("seq", c_uint32), ("occurrences", c_uint32),
               ("tokens", c_uint32), *_u64("bytes"), ("is_volatile", c_bool), ("frame", c_void_p),
               ("records", POINTER(Record)), ("record_count", c_size_t))
RenderOptions = _struct("vcm_render_options", *_texts("format"), ("lines", c_bool))

STRUCTS = [item for item in list(globals().values())
           if isinstance(item, type) and issubclass(item, Structure) and item is not Structure]
PREFIXES = {"vcm_map_result"}

OK, INVALID_ARGUMENT, NOT_FOUND, STORE_BUSY, INTERNAL, INTERRUPTED = 0, 1, 3, 10, 13, 14


def visitor(struct: Any) -> Any:
    """The type of a callback that is shown one struct after the other."""
    return CFUNCTYPE(c_int, c_void_p, POINTER(struct), POINTER(Error))


ScopeFn, PageEntryFn, PageOutcomeFn = visitor(ScopeInfo), visitor(PageEntry), visitor(PageOutcome)
FindFn = visitor(FindEntry)
LockEntryFn, PinFn, KbFileFn, KbChunkFn = (visitor(LockEntry), visitor(PinOutcome),
                                           visitor(KbFile), visitor(KbChunk))

CoverageFn, VerifyFn, TraceOutcomeFn = (visitor(CoverageFile), visitor(VerifyFinding),
                                        visitor(TraceOutcome))
ConfigFn, FindingFn, TokensFn = visitor(ConfigEntry), visitor(Finding), visitor(TokensFile)
LfsFileFn, LfsSummaryFn, KbDocumentFn = visitor(LfsFile), visitor(LfsSummary), visitor(KbDocument)
DocumentFn = CFUNCTYPE(c_int, c_void_p, c_void_p, c_size_t, POINTER(Error))

_E, _H = POINTER(Error), c_void_p
FUNCTIONS: Dict[str, Tuple[Any, ...]] = {
    "vcm_version": (c_char_p,),
    "vcm_error_code_name": (c_char_p, c_int),
    "vcm_error_retryable": (c_bool, c_int),
    "vcm_status_name": (c_char_p, c_int),
    "vcm_reason_list": (POINTER(ReasonInfo), POINTER(c_size_t)),
    "vcm_cancel_request": (None, POINTER(Cancel)),
    "vcm_cancel_reset": (None, POINTER(Cancel)),
    "vcm_open": (c_int, POINTER(_H), POINTER(OpenOptions), _E),
    "vcm_close": (None, _H),
    "vcm_materialize_repo_map": (c_int, POINTER(POINTER(MapResult)), _H,
                                 POINTER(MaterializeOptions), _E),
    "vcm_mmap_application_scope": (c_int, POINTER(POINTER(MapResult)), _H, POINTER(MmapOptions),
                                   _E),
    "vcm_munmap_application_scope": (c_int, POINTER(c_int), _H, c_char_p, _E),
    "vcm_watch": (c_int, _H, POINTER(WatchOptions), _E),
    "vcm_map_result_free": (None, POINTER(MapResult)),
    "vcm_scopes": (c_int, _H, ScopeFn, c_void_p, _E),
    "vcm_pages": (c_int, POINTER(c_void_p), _H, POINTER(PagesQuery), PageEntryFn, c_void_p, _E),
    "vcm_find_record": (c_int, _H, POINTER(RecordQuery), FindFn, c_void_p, _E),
    "vcm_page_open": (c_int, POINTER(POINTER(Page)), _H, POINTER(PageQuery), _E),
    "vcm_page_release": (None, POINTER(Page)),
    "vcm_page_render": (c_int, POINTER(c_void_p), POINTER(c_size_t), POINTER(Page),
                        POINTER(RenderOptions), _E),
    "vcm_page_view_open": (c_int, POINTER(c_void_p), _H, c_char_p, _E),
    "vcm_page_view_open_hit": (c_int, POINTER(c_void_p), _H, c_char_p, _E),
    "vcm_page_view_release": (None, c_void_p),
    "vcm_fault": (c_int, _H, POINTER(FaultQuery), PageOutcomeFn, c_void_p, _E),
    "vcm_lock": (c_int, _H, POINTER(LockQuery), PageOutcomeFn, c_void_p, _E),
    "vcm_unlock": (c_int, POINTER(c_uint64), _H, POINTER(LockQuery), PageOutcomeFn, c_void_p, _E),
    "vcm_locks": (c_int, _H, c_char_p, LockEntryFn, c_void_p, _E),
    "vcm_lock_extend": (c_int, POINTER(c_uint64), _H, c_char_p, c_char_p, c_uint64, _E),
    "vcm_pin": (c_int, _H, c_char_p, PinFn, c_void_p, _E),
    "vcm_unpin": (c_int, _H, c_char_p, PinFn, c_void_p, _E),
    "vcm_stat": (c_int, POINTER(Stat), _H, _E),
    "vcm_kb_ingest": (c_int, _H, POINTER(KbIngestOptions), KbFileFn, c_void_p, _E),
    "vcm_error_fill": (c_int, _E, c_int, c_char_p, c_char_p),
    "vcm_register_source": (c_int, _H, POINTER(SourceDefinition), _E),
    "vcm_map_check": (c_int, POINTER(POINTER(MapReport)), _H, POINTER(MapQuery), _E),
    "vcm_map_preview": (c_int, POINTER(POINTER(MapReport)), _H, POINTER(MapQuery), _E),
    "vcm_map_show": (c_int, POINTER(POINTER(MapReport)), _H, POINTER(MapQuery), _E),
    "vcm_map_report_free": (None, POINTER(MapReport)),
    "vcm_coverage": (c_int, _H, POINTER(CoverageQuery), ScopeFn, CoverageFn, c_void_p, _E),
    "vcm_pages_count": (c_int, POINTER(c_uint64), _H, POINTER(PagesQuery), _E),
    "vcm_find": (c_int, _H, POINTER(FindQuery), FindFn, c_void_p, _E),
    "vcm_evict": (c_int, POINTER(EvictResult), _H, POINTER(EvictQuery), PageOutcomeFn, c_void_p,
                  _E),
    "vcm_top": (c_int, _H, POINTER(TopOptions), _E),
    "vcm_verify": (c_int, POINTER(VerifyResult), _H, c_bool, VerifyFn, c_void_p, _E),
    "vcm_gc": (c_int, POINTER(GcCounts), _H, _E),
    "vcm_gc_clones": (c_int, POINTER(GcCloneCounts), _H, c_uint64, _E),
    "vcm_trace_record": (c_int, POINTER(TraceRecorded), _H, POINTER(TraceRecordOptions), _E),
    "vcm_trace_replay_file": (c_int, POINTER(c_uint64), _H, c_char_p, c_uint64, TraceOutcomeFn,
                              c_void_p, _E),
    "vcm_config_list": (c_int, _H, ConfigFn, c_void_p, _E),
    "vcm_config_get": (c_int, _H, c_char_p, ConfigFn, c_void_p, _E),
    "vcm_config_set": (c_int, _H, c_char_p, c_char_p, _E),
    "vcm_doctor": (c_int, _H, FindingFn, c_void_p, _E),
    "vcm_tokens": (c_int, _H, POINTER(TokensQuery), TokensFn, c_void_p, _E),
    "vcm_tokens_count": (c_int, POINTER(c_uint64), c_char_p, c_char_p, c_size_t, c_uint64, _E),
    "vcm_lfs_status": (c_int, _H, c_char_p, LfsFileFn, LfsSummaryFn, c_void_p, _E),
    "vcm_lfs_pull": (c_int, _H, c_char_p, LfsFileFn, LfsSummaryFn, c_void_p, _E),
    "vcm_init": (c_int, POINTER(POINTER(InitResult)), _H, POINTER(InitOptions), _E),
    "vcm_init_result_free": (None, POINTER(InitResult)),
    "vcm_promote": (c_int, POINTER(POINTER(PromoteResult)), _H, POINTER(PromoteOptions), _E),
    "vcm_promote_result_free": (None, POINTER(PromoteResult)),
    "vcm_repo_fetch": (c_int, _H, POINTER(RepoFetchOptions), DocumentFn, c_void_p, _E),
    "vcm_repo_map": (c_int, _H, POINTER(RepoMapOptions), DocumentFn, c_void_p, _E),
    "vcm_symbol_list": (c_int, _H, POINTER(SymbolQuery), DocumentFn, c_void_p, _E),
    "vcm_reference_list": (c_int, _H, POINTER(ReferenceQuery), DocumentFn, c_void_p, _E),
    "vcm_diff": (c_int, _H, POINTER(DiffQuery), DocumentFn, c_void_p, _E),
    "vcm_grep": (c_int, POINTER(GrepResult), _H, POINTER(GrepQuery), POINTER(GrepVisitor), _E),
    "vcm_read": (c_int, POINTER(POINTER(ReadResult)), _H, POINTER(ReadQuery), _E),
    "vcm_read_free": (None, POINTER(ReadResult)),
    "vcm_outline": (c_int, POINTER(POINTER(OutlineResult)), _H, POINTER(OutlineQuery), _E),
    "vcm_outline_free": (None, POINTER(OutlineResult)),
    "vcm_kb_list": (c_int, _H, POINTER(KbFilter), KbDocumentFn, c_void_p, _E),
    "vcm_kb_show": (c_int, _H, c_char_p, KbChunkFn, c_void_p, _E),
    "vcm_kb_clear": (c_int, _H, POINTER(KbClearOptions), KbDocumentFn, c_void_p, _E),
    "vcm_kb_stat": (c_int, POINTER(KbStat), _H, _E),
    "vcm_kb_search": (c_int, POINTER(c_uint64), _H, POINTER(KbSearchOptions), KbChunkFn, c_void_p,
                      _E),
}


def _bind(library: Any) -> Any:
    for function, (result, *arguments) in FUNCTIONS.items():
        bound = getattr(library, function)
        bound.restype, bound.argtypes = result, arguments
    return library


lib = _bind(_library)


def library_version() -> str:
    """The version of the shared library."""
    return str(lib.vcm_version().decode())


class VcmError(Exception):
    """What the library says when a call fails; `code` is a name such as NOT_FOUND."""

    def __init__(self, code: int, message: str, context: str = "", details: str = ""):
        super().__init__(f"{context}: {message}" if context else message)
        self.code: str = lib.vcm_error_code_name(code).decode()
        self.number: int = code
        self.message: str = message
        self.details: str = "{" + details + "}"
        self.retryable: bool = lib.vcm_error_retryable(code)


def failure(error: Any) -> VcmError:
    """The exception for a filled error, which is reset."""
    found = VcmError(error.code, error.message.decode("utf-8", "replace"),
                     error.context.decode("utf-8", "replace"),
                     error.details.decode("utf-8", "replace"))
    ctypes.memset(ctypes.byref(error), 0, ctypes.sizeof(error))
    return found


def decode(text: Optional[bytes]) -> Optional[str]:
    return None if text is None else text.decode("utf-8", "replace")


def encode(value: object, name: str) -> Optional[bytes]:
    """A string as the library takes it; None stays None."""
    if value is None:
        return None
    if not isinstance(value, (str, os.PathLike)):
        raise TypeError(f"{name} must be a string, not {type(value).__name__}")
    text = os.fspath(value)
    if not isinstance(text, str) or "\0" in text:
        raise ValueError(f"{name} must be a string without NUL")
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ValueError(f"{name} is not valid UTF-8: {error.reason}") from None


def encode_list(values: Any, name: str) -> Tuple[Any, int]:
    """An array of strings and its length; (None, 0) for None. An empty one is not NULL."""
    if values is None:
        return None, 0
    if isinstance(values, (str, bytes)) or not hasattr(values, "__iter__"):
        raise TypeError(f"{name} must be a list of strings, not {type(values).__name__}")
    texts = []
    for value in values:
        if value is None:
            raise TypeError(f"{name} must be a list of strings, not of None")
        texts.append(encode(value, name))
    array = (c_char_p * (len(texts) + 1))(*texts, None)
    return ctypes.cast(array, TEXTS), len(texts)


free = ctypes.CDLL(None).free
free.restype, free.argtypes = None, [c_void_p]
