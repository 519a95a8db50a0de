"""Mapping: scopes, what is in them, and the pages that change."""

from ctypes import POINTER, byref, c_int
from typing import Any, AsyncIterator, Dict, Iterable, List, Optional, Sequence

from . import _arguments as check
from . import _native as native
from ._calls import Calls, Handle, Progress, ProgressFunction, Stream, collect
from ._native import decode, encode, encode_list, lib
from .types import MmapConfig, MmapResult, PageEvent


def _event(found: Any) -> PageEvent:
    old = decode(found.old_page_id)
    return PageEvent(decode(found.event) or "", decode(found.scope_id) or "",
                     decode(found.page_id) or "", [old] if old else [],
                     [decode(found.paths[i]) or "" for i in range(found.path_count)])


def coverage_of(coverage: Any) -> Dict[str, int]:
    """Numbers by outcome."""
    return {name: getattr(coverage, name) for name, _ in coverage._fields_}


def _result(source: Any) -> MmapResult:
    return MmapResult(
        status=decode(lib.vcm_status_name(source.status)) or "", scope_id=decode(source.scope_id)
        or "", message=decode(source.message) or "", name=decode(source.name),
        commit=decode(source.commit), tree=decode(source.tree),
        code=decode(lib.vcm_error_code_name(source.code)) if source.code else None,
        records=source.records, pages=source.pages, tokens=source.tokens, bytes=source.bytes,
        pages_created=source.pages_created, pages_reused=source.pages_reused,
        pages_dropped=source.pages_dropped, coverage=coverage_of(source.coverage),
        elapsed_ms=source.elapsed_ms)


class Mapping(Calls):
    """The calls that map scopes."""

    async def materialize_repo_map(
            self, *, origin_url: str, branch: Optional[str] = None, commit: Optional[str] = None,
            base_scope_id: Optional[str] = None, mmap_config: Optional[MmapConfig] = None,
            enabled_sources: Optional[Iterable[str]] = None, replace: bool = False,
            jobs: int = 0, progress: Optional[ProgressFunction] = None) -> List[MmapResult]:
        """Maps the rows of a repository's map. `enabled_sources`: None for all, empty for none.
        `progress` is called on the event loop."""
        names, count = encode_list(enabled_sources, "enabled_sources")
        check.function(progress, "progress")
        options = native.MaterializeOptions(
            origin_url=check.text(origin_url, "origin_url"), branch=encode(branch, "branch"),
            commit=encode(commit, "commit"), base_scope_id=encode(base_scope_id, "base_scope_id"),
            config=check.config(mmap_config, "mmap_config"), enabled_sources=names,
            enabled_count=count, replace=check.flag(replace, "replace"),
            jobs=check.count(jobs, "jobs"))
        return await self._map(lib.vcm_materialize_repo_map, options, progress)

    async def mmap_application_scope(
            self, *, scope_id: str, origin_url: str, source_type: str = "git_repo",
            branch: Optional[str] = None, commit: Optional[str] = None,
            config: Optional[MmapConfig] = None, start_dir: Optional[str] = None,
            include_globs: Optional[Sequence[str]] = None,
            exclude_globs: Optional[Sequence[str]] = None, binary_policy: Optional[str] = None,
            static: bool = False, chunk_target_tokens: Optional[int] = None,
            chunk_overlap_tokens: Optional[int] = None, replace: bool = False,
            jobs: int = 0, progress: Optional[ProgressFunction] = None) -> MmapResult:
        """Maps one scope; a row that fails is a result with the status `error`. `progress` is
        called on the event loop."""
        check.function(progress, "progress")
        include, include_count = encode_list(include_globs, "include_globs")
        exclude, exclude_count = encode_list(exclude_globs, "exclude_globs")
        options = native.MmapOptions(
            scope_id=check.text(scope_id, "scope_id"),
            source_type=encode(source_type, "source_type"),
            origin_url=check.text(origin_url, "origin_url"), branch=encode(branch, "branch"),
            commit=encode(commit, "commit"), config=check.config(config, "config"),
            start_dir=encode(start_dir, "start_dir"), include_globs=include,
            include_count=include_count, exclude_globs=exclude, exclude_count=exclude_count,
            binary_policy=encode(binary_policy, "binary_policy"),
            is_static=check.flag(static, "static"),
            chunk_target_tokens=0 if chunk_target_tokens is None else check.count(
                chunk_target_tokens, "chunk_target_tokens", least=1),
            chunk_overlap_tokens=-1 if chunk_overlap_tokens is None else check.count(
                chunk_overlap_tokens, "chunk_overlap_tokens"),
            replace=check.flag(replace, "replace"), jobs=check.count(jobs, "jobs"))
        results = await self._map(lib.vcm_mmap_application_scope, options, progress)
        return results[0]

    async def _map(self, function: Any, options: Any, progress: Optional[ProgressFunction]
                   ) -> List[MmapResult]:
        self._open_handle()
        told = Progress(progress)
        if told.native:
            options.progress = told.native

        def work(handle: Handle) -> List[MmapResult]:
            out = POINTER(native.MapResult)()
            handle.check(function(byref(out), handle.pointer, byref(options),
                                  byref(handle.error)))
            try:
                return [_result(out.contents.sources[i])
                        for i in range(out.contents.source_count)]
            finally:
                lib.vcm_map_result_free(out)

        try:
            return await self._run(work)
        finally:
            told.tell()

    async def munmap_application_scope(self, scope_id: str) -> MmapResult:
        """Removes a scope and the pages that only it holds: `unmapped`, or `not_mapped` when there
        is none of this name."""
        name = check.text(scope_id, "scope_id")

        def work(handle: Handle) -> MmapResult:
            status = c_int()
            handle.check(lib.vcm_munmap_application_scope(byref(status), handle.pointer, name,
                                                          byref(handle.error)))
            return MmapResult(decode(lib.vcm_status_name(status)) or "", scope_id)

        return await self._run(work)

    async def get_all_mapped_scopes(self) -> List[Dict[str, Any]]:
        """What is known of every mapped scope, by scope_id."""
        handle = self._open_handle()

        def take(scope: Any) -> Dict[str, Any]:
            return {"scope_id": decode(scope.scope_id), "source_type": decode(scope.type),
                    "origin_url": decode(scope.origin_url), "branch": decode(scope.branch),
                    "commit": decode(scope.commit), "created_at": scope.mapped_at,
                    "config": MmapConfig(scope.flush_threshold, scope.flush_token_budget,
                                         scope.pinned),
                    "page_count": scope.pages, "tracked_records": scope.records,
                    "tokens": scope.tokens, "bytes": scope.bytes,
                    "coverage": coverage_of(scope.coverage)}

        return collect(handle, native.ScopeFn, take, lambda visit: int(lib.vcm_scopes(
            handle.pointer, visit, None, byref(handle.error))))

    async def get_application_scope_mapping_status(self, scope_id: str
                                                   ) -> Optional[Dict[str, Any]]:
        """What is known of a mapped scope; None when there is none of this name."""
        check.text(scope_id, "scope_id")
        for scope in await self.get_all_mapped_scopes():
            if scope["scope_id"] == scope_id:
                return scope
        return None

    async def is_application_scope_mapped(self, scope_id: str) -> bool:
        """Whether a scope of exactly this name is mapped."""
        return await self.get_application_scope_mapping_status(scope_id) is not None

    async def watch(self, *, origin_url: str, base_scope_id: Optional[str] = None,
                    branch: Optional[str] = None, poll_s: float = 60.0
                    ) -> AsyncIterator[PageEvent]:
        """Maps a repository now and whenever it moves; yields each page that changes, whoever
        maps. Ends when it is closed, its task is cancelled, or the manager is closed. Each watch
        has a thread and a handle of its own; other calls do not wait for it."""
        options = native.WatchOptions(
            map=native.MapOptions(repository=check.text(origin_url, "origin_url"),
                                  base_scope_id=encode(base_scope_id, "base_scope_id"),
                                  branch=encode(branch, "branch"), nested_scope=True),
            poll_ms=check.seconds(poll_s, "poll_s"), map_first=True)

        def work(stream: Stream) -> int:
            options.event = stream.visitor(native.PageEventFn, _event)
            options.idle = stream.idle
            return int(lib.vcm_watch(stream.handle.pointer, byref(options),
                                     byref(stream.handle.error)))
        events = self._stream(work)
        try:
            async for event in events:
                yield event
        finally:
            await events.aclose()

    async def _mapped(self, scope_id: str) -> bytes:
        name = check.text(scope_id, "scope_id")
        if await self.get_application_scope_mapping_status(scope_id) is None:
            raise native.VcmError(native.NOT_FOUND, f"no scope '{scope_id}' is mapped")
        return name
