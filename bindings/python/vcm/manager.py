"""VirtualContextManager: the handle that Colony's materialiser calls, over libvcm.

Methods are coroutines of one event loop. What is in memory is answered at once; what takes time
runs in one of a few threads, each with a handle of its own, and cancelling the task cancels the work.
"""

import asyncio
import ctypes
import itertools
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from ctypes import POINTER, byref, c_int, c_size_t, c_uint64, c_void_p
from typing import (Any, AsyncIterator, Callable, Dict, Iterable, List, Optional, Sequence, Tuple,
                    Union)

from . import _arguments as check
from . import _native as native
from ._native import decode, encode, encode_list, lib
from .types import (ApplicationRecord, MmapConfig, MmapProgress, MmapResult, PageEvent, PageLock,
                    SearchHit, VirtualContextPage, frame_of)

OWNER = "python"
WORKERS = 8
FAULT_WORKERS = 4    # threads of the library that load pages
FAULT_THREADS = 256  # faults that wait for them, and are served by priority; more wait in order
FAULTS_KEPT = 10000  # that ended, and that nobody waited for
PAGE_ID_DIGITS = 40
LOG_LEVELS = ("error", "warning", "info", "debug")
LogFunction = Callable[[str, str], None]
ProgressFunction = Callable[[MmapProgress], None]
PageName = Union[str, VirtualContextPage]


class _Log:
    """Hands the library's log lines to a function: level and line, in the thread that logs."""

    def __init__(self, function: LogFunction, level: str):
        def write(_context: Any, number: int, line: bytes) -> None:
            function(LOG_LEVELS[number], decode(line) or "")

        self.sink = native.LogFn(write)
        self.native = native.Log(self.sink, None, LOG_LEVELS.index(level))


class _Progress:
    """Hands progress to a function on the event loop; what comes faster than it is taken is
    dropped, but never the last."""

    def __init__(self, function: Optional[ProgressFunction]):
        self.function = function
        self.loop = asyncio.get_running_loop()
        self.latest: Optional[MmapProgress] = None
        self.native = native.ProgressFn(self._take) if function else native.ProgressFn()

    def _take(self, _context: Any, item: Any) -> None:
        waiting, found = self.latest, item.contents
        self.latest = MmapProgress(found.files, found.pages, found.tokens, found.bytes)
        if waiting is None and not self.loop.is_closed():
            self.loop.call_soon_threadsafe(self.tell)

    def tell(self) -> None:
        progress, self.latest = self.latest, None
        if progress is None or self.function is None:
            return
        try:
            self.function(progress)
        except Exception as error:  # the mapping goes on
            self.loop.call_exception_handler({"message": "a progress function failed",
                                              "exception": error})


class _Handle:
    """An open handle with its cancel flag and its error; used by one thread at a time."""

    def __init__(self, home: Optional[bytes], log: Optional[_Log], fault_workers: int = 0):
        self.cancel = native.Cancel()
        self.error = native.Error()
        self.pointer = c_void_p()
        self.log = log  # lives as long as the handle
        options = native.OpenOptions(home=home, cancel=ctypes.pointer(self.cancel),
                                     log=ctypes.pointer(log.native) if log else None,
                                     fault_workers=fault_workers)
        if lib.vcm_open(byref(self.pointer), byref(options), byref(self.error)) != native.OK:
            raise native.failure(self.error)

    def check(self, code: int) -> None:
        if code != native.OK:
            raise native.failure(self.error)

    def close(self) -> None:
        pointer, self.pointer = self.pointer, c_void_p()
        lib.vcm_close(pointer)


class _Call:
    """Work for a thread. It gets a handle when a thread begins it, so that there are no more handles
    than threads, however many calls wait."""

    def __init__(self, manager: "VirtualContextManager", work: Callable[[_Handle], Any]):
        self.manager = manager
        self.work = work
        self.lock = threading.Lock()
        self.handle: Optional[_Handle] = None  # while the work is under way
        self.cancelled = False

    def run(self) -> Any:
        handle = self.manager._take()
        try:
            with self.lock:
                self.handle = handle
                if self.cancelled:
                    return None  # nobody waits for it
            return self.work(handle)
        finally:
            with self.lock:
                self.handle = None
            self.manager._put_back(handle)

    def cancel(self) -> None:
        with self.lock:
            self.cancelled = True
            if self.handle is not None:
                lib.vcm_cancel_request(byref(self.handle.cancel))


class _Shared:
    """A handle that has fault workers, as one of the threads uses it that fault pages with it."""

    def __init__(self, handle: _Handle):
        self.pointer = handle.pointer
        self.error = native.Error()

    def check(self, code: int) -> None:
        if code != native.OK:
            raise native.failure(self.error)


def _collect(handle: Union[_Handle, _Shared], struct_fn: Any, take: Callable[[Any], Any],
             call: Callable[[Any], int]) -> List[Any]:
    """Calls a function that shows structs one after the other; what `take` makes of each."""
    found: List[Any] = []
    trouble: List[BaseException] = []

    def visit(_context: Any, item: Any, _error: Any) -> int:
        try:
            found.append(take(item.contents))
        except BaseException as error:  # it must not cross the library
            trouble.append(error)
            return native.INTERRUPTED
        return native.OK

    code = call(struct_fn(visit))
    if trouble:
        ctypes.memset(byref(handle.error), 0, ctypes.sizeof(handle.error))
        raise trouble[0]
    handle.check(code)
    return found


def _entry(page: Any) -> Dict[str, Any]:
    return {"page_id": decode(page.page_id), "scope_id": decode(page.scope_id), "seq": page.seq,
            "records": page.records, "tokens": page.tokens, "bytes": page.bytes,
            "state": decode(page.state), "pinned": page.pinned,
            "locked_until": page.locked_until or None,
            "files": [decode(page.files[i]) for i in range(page.file_count)]}


def _failed_page(page: Any) -> Optional[Tuple[str, native.VcmError]]:
    if not page.error:
        return None
    error = page.error.contents
    return decode(page.page_id) or "", native.VcmError(error.code, decode(error.message) or "")


def _event(found: Any) -> PageEvent:
    old = decode(found.old_page_id)
    return PageEvent(decode(found.event) or "", decode(found.scope_id) or "",
                     decode(found.page_id) or "", [old] if old else [],
                     [decode(found.paths[i]) or "" for i in range(found.path_count)])


def _coverage(coverage: Any) -> Dict[str, int]:
    return {name: getattr(coverage, name) for name, _ in coverage._fields_}


def _result(source: Any) -> MmapResult:
    return MmapResult(
        status=decode(lib.vcm_status_name(source.status)) or "", scope_id=decode(source.scope_id)
        or "", message=decode(source.message) or "", name=decode(source.name),
        commit=decode(source.commit),
        code=decode(lib.vcm_error_code_name(source.code)) if source.code else None,
        records=source.records, pages=source.pages, tokens=source.tokens, bytes=source.bytes,
        pages_created=source.pages_created, pages_reused=source.pages_reused,
        pages_dropped=source.pages_dropped, coverage=_coverage(source.coverage),
        elapsed_ms=source.elapsed_ms)


class VirtualContextManager:
    """One home of pages. Opened at once; closed with close() or by `async with`.

    `log` is called with a level ("error", "warning", "info" or "debug") and a line, from any
    thread; what it raises is reported as Python reports what a finalizer raises.
    """

    def __init__(self, home: Union[str, "os.PathLike[str]", None] = None, *,
                 log: Optional[LogFunction] = None, log_level: str = "warning"):
        self._home = encode(home, "home")
        check.function(log, "log")
        if log_level not in LOG_LEVELS:
            raise ValueError(f"log_level must be one of {', '.join(LOG_LEVELS)}, "
                             f"not {log_level!r}")
        self._log = _Log(log, log_level) if log is not None else None
        self._process = os.getpid()
        self._closed = False
        self._lock = threading.Lock()
        self._idle: List[_Handle] = []
        self._faults: Dict[str, "asyncio.Task[bool]"] = {}
        self._fault_errors: Dict[str, Dict[str, native.VcmError]] = {}
        self._watches: "set[asyncio.Task[None]]" = set()
        self._numbers = itertools.count(1)
        self._handle = _Handle(self._home, self._log)
        self._out = c_void_p()
        self._call = (lib.vcm_page_view_open_hit, byref(self._out), byref(self._handle.error))
        self._threads = ThreadPoolExecutor(WORKERS, thread_name_prefix="vcm")
        self._fault_handle = _Handle(self._home, self._log, FAULT_WORKERS)
        self._fault_threads = ThreadPoolExecutor(FAULT_THREADS, thread_name_prefix="vcm-fault")

    async def __aenter__(self) -> "VirtualContextManager":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Waits for work that is under way, and closes. Pages that are open stay readable."""
        tasks = [*self._faults.values(), *self._watches]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        lib.vcm_cancel_request(byref(self._fault_handle.cancel))
        for threads in (self._threads, self._fault_threads):
            await asyncio.get_running_loop().run_in_executor(None, threads.shutdown)
        self.close()

    def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        lib.vcm_cancel_request(byref(self._fault_handle.cancel))
        self._threads.shutdown()
        self._fault_threads.shutdown()
        for handle in [self._handle, self._fault_handle, *self._idle]:
            handle.close()
        self._idle.clear()

    # How calls are made

    def _open_handle(self) -> _Handle:
        if self._closed:
            raise native.VcmError(native.INVALID_ARGUMENT, "the manager is closed")
        if self._process != os.getpid():  # its threads are not there
            raise native.VcmError(native.INVALID_ARGUMENT, "the manager was opened by process "
                                  f"{self._process}, before a fork; open one here")
        return self._handle

    def _take(self) -> _Handle:
        with self._lock:
            if self._idle:
                return self._idle.pop()
        return _Handle(self._home, self._log)

    def _put_back(self, handle: _Handle) -> None:
        lib.vcm_cancel_reset(byref(handle.cancel))
        with self._lock:
            self._idle.append(handle)

    async def _run(self, work: Callable[[_Handle], Any]) -> Any:
        """Runs work in one of the threads, with a handle that no other thread uses meanwhile.
        Cancelling the task cancels the work, and is told when the work has ended."""
        self._open_handle()
        call = _Call(self, work)
        job = self._threads.submit(call.run)
        future = asyncio.wrap_future(job)
        try:
            return await asyncio.shield(future)
        except asyncio.CancelledError:
            if not job.cancel():  # a thread has it already
                call.cancel()
            while not future.done():  # however often the task is cancelled: the handle is in use
                try:
                    await asyncio.wait([future])
                except asyncio.CancelledError:
                    pass
            if not future.cancelled():
                future.exception()
            raise

    # Mapping

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
        told = _Progress(progress)
        options.progress = told.native

        def work(handle: _Handle) -> List[MmapResult]:
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
        name = check.text(scope_id, "scope_id")

        def work(handle: _Handle) -> MmapResult:
            status = c_int()
            handle.check(lib.vcm_munmap_application_scope(byref(status), handle.pointer, name,
                                                          byref(handle.error)))
            return MmapResult(decode(lib.vcm_status_name(status)) or "", scope_id)

        return await self._run(work)

    async def get_all_mapped_scopes(self) -> List[Dict[str, Any]]:
        handle = self._open_handle()

        def take(scope: Any) -> Dict[str, Any]:
            return {"scope_id": decode(scope.scope_id), "source_type": decode(scope.type),
                    "origin_url": decode(scope.origin_url), "branch": decode(scope.branch),
                    "commit": decode(scope.commit), "created_at": scope.mapped_at,
                    "config": MmapConfig(scope.flush_threshold, scope.flush_token_budget,
                                         scope.pinned),
                    "page_count": scope.pages, "tracked_records": scope.records,
                    "tokens": scope.tokens, "bytes": scope.bytes,
                    "coverage": _coverage(scope.coverage)}

        return _collect(handle, native.ScopeFn, take, lambda visit: lib.vcm_scopes(
            handle.pointer, visit, None, byref(handle.error)))

    async def get_application_scope_mapping_status(self, scope_id: str
                                                   ) -> Optional[Dict[str, Any]]:
        """What is known of a mapped scope; None when there is none of this name."""
        check.text(scope_id, "scope_id")
        for scope in await self.get_all_mapped_scopes():
            if scope["scope_id"] == scope_id:
                return scope
        return None

    async def is_application_scope_mapped(self, scope_id: str) -> bool:
        return await self.get_application_scope_mapping_status(scope_id) is not None

    async def watch(self, *, origin_url: str, base_scope_id: Optional[str] = None,
                    branch: Optional[str] = None, poll_s: float = 60.0
                    ) -> AsyncIterator[PageEvent]:
        """Maps a repository now and whenever it moves; yields each page that changes, whoever
        maps. Ends when it is closed or its task is cancelled."""
        self._open_handle()
        loop = asyncio.get_running_loop()
        events: "asyncio.Queue[PageEvent]" = asyncio.Queue()

        def take(_context: Any, item: Any, _error: Any) -> int:
            try:
                loop.call_soon_threadsafe(events.put_nowait, _event(item.contents))
            except RuntimeError:  # the loop is closed
                return native.INTERRUPTED
            return native.OK

        options = native.WatchOptions(
            map=native.MapOptions(repository=check.text(origin_url, "origin_url"),
                                  base_scope_id=encode(base_scope_id, "base_scope_id"),
                                  branch=encode(branch, "branch"), nested_scope=True),
            poll_ms=check.seconds(poll_s, "poll_s"), map_first=True, event=native.PageEventFn(take))
        work = asyncio.ensure_future(self._run(lambda h: h.check(lib.vcm_watch(
            h.pointer, byref(options), byref(h.error)))))
        self._watches.add(work)
        try:
            while True:
                waiting = asyncio.ensure_future(events.get())
                try:
                    await asyncio.wait([waiting, work], return_when=asyncio.FIRST_COMPLETED)
                finally:
                    waiting.cancel()
                if work.done() and not waiting.done():
                    work.result()
                    return
                yield waiting.result()
        finally:
            self._watches.discard(work)
            work.cancel()
            await asyncio.gather(work, return_exceptions=True)

    # Pages

    async def get_virtual_page(self, page_id: str) -> VirtualContextPage:
        """Reads a page: at once when it is in memory, else rebuilt in a thread."""
        page = self._hit(page_id)
        return page if page is not None else await self._run(lambda h: self._view(h, page_id))

    def _hit(self, page_id: str) -> Optional[VirtualContextPage]:
        function, out, error = self._call
        try:
            name = page_id.encode()
        except (AttributeError, UnicodeEncodeError):
            name = check.text(page_id, "page_id")  # which says what is wrong
        if b"\0" in name:
            raise ValueError("page_id must be a string without NUL")
        code = function(out, self._handle.pointer, name, error)
        if code == native.OK:
            pointer = self._out.value
            return VirtualContextPage(self, page_id, frame_of(pointer)) if pointer else None
        problem = native.failure(self._handle.error)
        if code == native.STORE_BUSY:
            return VirtualContextPage(self, page_id, self._copy_text(page_id))
        raise problem if not self._closed else native.VcmError(native.INVALID_ARGUMENT,
                                                               "the manager is closed")

    def _view(self, handle: _Handle, page_id: str) -> VirtualContextPage:
        out = c_void_p()
        handle.check(lib.vcm_page_view_open(byref(out), handle.pointer, page_id.encode(),
                                            byref(handle.error)))
        return VirtualContextPage(self, page_id, frame_of(out.value or 0))

    def _open_text(self, page_id: str) -> memoryview:
        page = self._hit(page_id)
        if page is None:
            page = self._view(self._open_handle(), page_id)
        return page.text

    def _with_page(self, handle: _Handle, page_id: str, take: Callable[[Any], Any],
                   scope_id: Optional[bytes] = None) -> Any:
        out = POINTER(native.Page)()
        query = native.PageQuery(page=encode(page_id, "page_id"), scope=scope_id, seq=-1)
        handle.check(lib.vcm_page_open(byref(out), handle.pointer, byref(query),
                                       byref(handle.error)))
        try:
            return take(out.contents)
        finally:
            lib.vcm_page_release(out)

    def _copy_text(self, page_id: str) -> memoryview:
        """The text when there are as many views as there may be."""
        return self._with_page(self._open_handle(), page_id, lambda page: memoryview(
            ctypes.string_at(page.frame, page.bytes)))

    def _describe(self, page_id: str) -> Dict[str, Any]:
        def take(page: Any) -> Dict[str, Any]:
            files = [decode(page.records[i].path) for i in range(page.record_count)]
            return {"scope_id": decode(page.scope_id), "seq": page.seq, "tokens": page.tokens,
                    "bytes": page.bytes, "files": list(dict.fromkeys(files))}
        return self._with_page(self._open_handle(), page_id, take)

    async def get_pages_for_record(self, record_id: str, *, path: Optional[str] = None,
                                   scope_id: Optional[str] = None) -> List[VirtualContextPage]:
        """The pages that hold a record. With the record's path it is quick; without it every page
        of the scopes is looked into."""
        query = native.RecordQuery(record=check.text(record_id, "record_id"),
                                   scope=encode(scope_id, "scope_id"), path=encode(path, "path"))

        def work(handle: _Handle) -> List[str]:
            return _collect(handle, native.FindFn, lambda entry: decode(entry.page_id),
                            lambda visit: lib.vcm_find_record(
                                handle.pointer, byref(query), visit, None, byref(handle.error)))
        return [VirtualContextPage(self, page) for page in dict.fromkeys(await self._run(work))]

    async def get_application_records_in_page(self, page_id: PageName) -> List[ApplicationRecord]:
        name = check.page_id(page_id)

        def take(page: Any) -> List[ApplicationRecord]:
            return [ApplicationRecord(
                decode(r.record_id) or "", decode(r.path) or "", decode(r.blob) or "",
                r.start_line, r.end_line, r.part, r.parts, r.tokens, r.lossy,
                decode(r.media_type), ctypes.string_at(r.text, r.text_len).decode())
                for r in page.records[:page.record_count]]
        return await self._run(lambda h: self._with_page(h, name, take))

    async def render_page(self, page_id: PageName, *, format: str = "text", lines: bool = False,
                          scope_id: Optional[str] = None) -> str:
        """The page as text for a model to read: "text", "markdown" or "xml". Every record stands
        under its path between fences that its content cannot close; `lines` numbers the lines.
        The same page and scope give the same text; without a scope it is the first that holds the
        page."""
        name, scope = check.page_id(page_id), encode(scope_id, "scope_id")
        options = native.RenderOptions(check.text(format, "format"), check.flag(lines, "lines"))

        def work(handle: _Handle) -> str:
            def take(page: Any) -> str:
                text, size = c_void_p(), c_size_t()
                handle.check(lib.vcm_page_render(byref(text), byref(size), byref(page),
                                                 byref(options), byref(handle.error)))
                try:
                    return ctypes.string_at(text.value or 0, size.value).decode()
                finally:
                    native.free(text)
            return self._with_page(handle, name, take, scope)
        return await self._run(work)

    async def get_pages_for_scope(self, scope_id: str, path: Optional[str] = None
                                  ) -> List[VirtualContextPage]:
        """The pages of a scope in order, or those of a file or directory; texts open when they
        are looked at."""
        scope = await self._mapped(scope_id)
        place = encode(path, "path")
        entries = await self._run(lambda h: self._list(h, scope, place, None))
        return [VirtualContextPage(self, entry["page_id"], entry=entry) for entry in entries]

    async def list_stored_pages(self, limit: Optional[int] = None, offset: int = 0
                                ) -> List[Dict[str, Any]]:
        """What is known of every page, by scope and seq."""
        check.count(offset, "offset")
        most = None if limit is None else check.count(limit, "limit") + offset
        entries = await self._run(lambda h: self._list(h, None, None, most))
        return entries[offset:most]

    @staticmethod
    def _list(handle: _Handle, scope: Optional[bytes], path: Optional[bytes],
              most: Optional[int]) -> List[Dict[str, Any]]:
        query = native.PagesQuery(scope=scope, path=path)
        found: List[Dict[str, Any]] = []
        while most is None or len(found) < most:
            cursor = c_void_p()
            found += _collect(handle, native.PageEntryFn, _entry, lambda visit: lib.vcm_pages(
                byref(cursor), handle.pointer, byref(query), visit, None, byref(handle.error)))
            if not cursor.value:
                break
            query.cursor = ctypes.string_at(cursor.value)
            native.free(cursor)
        return found

    # Faults and locks

    async def request_page_load(self, page_id: PageName, *, priority: int = 10,
                                requesting_agent_id: Optional[str] = None,
                                lock_duration_s: Optional[float] = None,
                                lock_reason: Optional[str] = None) -> bool:
        """Makes a page resident, and locks it when a duration is given. False when it cannot be
        had. Of those that wait the highest priority is served first."""
        return not await self._fault(self._fault_query([check.page_id(page_id)], priority,
                                                       requesting_agent_id, lock_duration_s,
                                                       lock_reason))

    @staticmethod
    def _fault_query(pages: List[str], priority: int, owner: Optional[str],
                     lock_s: Optional[float], reason: Optional[str]) -> Any:
        names, count = encode_list(pages, "page_ids")
        return native.FaultQuery(
            pages=names, count=count, priority=check.count(priority, "priority"),
            owner=check.text(OWNER if owner is None else owner, "requesting_agent_id"),
            lock_ms=0 if lock_s is None else check.seconds(lock_s, "lock_duration_s"),
            reason=encode(reason, "lock_reason"))

    async def _fault(self, query: Any) -> Dict[str, native.VcmError]:
        """The pages that are not resident afterwards, and why. Cancelling the task ends the waiting
        alone: others may wait for the same pages."""
        self._open_handle()

        def work() -> Dict[str, native.VcmError]:
            handle = _Shared(self._fault_handle)
            return dict(filter(None, _collect(handle, native.PageOutcomeFn, _failed_page,
                                              lambda visit: lib.vcm_fault(
                                                  handle.pointer, byref(query), visit, None,
                                                  byref(handle.error)))))
        future = asyncio.get_running_loop().run_in_executor(self._fault_threads, work)
        future.add_done_callback(lambda done: done.cancelled() or done.exception())
        return await asyncio.shield(future)

    async def _run_fault(self, name: str, query: Any) -> bool:
        errors = await self._fault(query)
        if errors:
            self._fault_errors[name] = errors
            while len(self._fault_errors) > FAULTS_KEPT:
                del self._fault_errors[next(iter(self._fault_errors))]
        return not errors

    async def issue_page_fault(self, page_ids: Union[PageName, Iterable[PageName]], *,
                               priority: int = 10, requesting_agent_id: Optional[str] = None,
                               lock_duration_s: Optional[float] = None,
                               lock_reason: Optional[str] = None) -> str:
        """Begins to make pages resident, and returns the name of the fault at once. Of those that
        wait the highest priority is served first."""
        self._open_handle()
        query = self._fault_query(check.page_ids(page_ids), priority, requesting_agent_id,
                                  lock_duration_s, lock_reason)
        name = f"fault-{next(self._numbers):012x}"
        self._faults[name] = asyncio.ensure_future(self._run_fault(name, query))
        self._forget_faults()
        return name

    def _forget_faults(self) -> None:
        """Nobody has to wait for a fault: of those that ended the oldest are forgotten."""
        for name in list(itertools.islice(self._faults, max(0, len(self._faults) - FAULTS_KEPT))):
            if self._faults[name].done():
                self._faults.pop(name).exception()

    async def wait_for_pages(self, fault_id: str, timeout: Optional[float] = 30.0) -> bool:
        """Whether all pages of the fault became resident; get_fault_errors() tells which did not.
        False after `timeout` seconds, too, and the fault goes on. The fault can be waited for
        until it has ended."""
        self._open_handle()
        check.text(fault_id, "fault_id")
        seconds = check.timeout(timeout, "timeout")
        task = self._faults.get(fault_id)
        if task is None:
            raise native.VcmError(native.NOT_FOUND, f"there is no fault '{fault_id}'")
        done, _ = await asyncio.wait([task], timeout=seconds)
        if not done:
            return False
        self._faults.pop(fault_id, None)
        return task.result()

    async def get_fault_errors(self, fault_id: str) -> Dict[str, native.VcmError]:
        """Why pages of a fault that has ended are not resident, by page id. STORE_BUSY: try again;
        STORE_FULL: there is no room. Empty when all are, or the fault was long ago."""
        self._open_handle()
        check.text(fault_id, "fault_id")
        return dict(self._fault_errors.get(fault_id, {}))

    async def lock_page(self, page_id: PageName, *, lock_duration_s: float,
                        locked_by: str = OWNER, reason: Optional[str] = None) -> PageLock:
        """Makes the page resident and keeps it so; a lock of the same owner is prolonged."""
        name = check.page_id(page_id)
        pages, count = encode_list([name], "page_id")
        query = native.LockQuery(pages=pages, count=count, owner=check.text(locked_by, "locked_by"),
                                 ttl_ms=check.seconds(lock_duration_s, "lock_duration_s"),
                                 reason=encode(reason, "reason"))
        await self._run(lambda h: h.check(lib.vcm_lock(
            h.pointer, byref(query), native.PageOutcomeFn(), None, byref(h.error))))
        return next(lock for lock in self._locks(name) if lock.locked_by == locked_by)

    async def unlock_page(self, page_id: PageName, *, locked_by: Optional[str] = OWNER) -> bool:
        """Removes the owner's lock, or everybody's for None. False when there was none."""
        pages, count = encode_list([check.page_id(page_id)], "page_id")
        query = native.LockQuery(pages=pages, count=count, owner=encode(locked_by, "locked_by"),
                                 force=locked_by is None)

        def work(handle: _Handle) -> bool:
            released = c_uint64()
            handle.check(lib.vcm_unlock(byref(released), handle.pointer, byref(query),
                                        native.PageOutcomeFn(), None, byref(handle.error)))
            return released.value > 0
        return bool(await self._run(work))

    async def extend_page_lock(self, page_id: PageName, *, additional_duration_s: float,
                               locked_by: str = OWNER) -> bool:
        """Lets a lock last longer. False when the owner has none."""
        name = check.page_id(page_id)
        page, owner = check.text(name, "page_id"), check.text(locked_by, "locked_by")
        more = check.seconds(additional_duration_s, "additional_duration_s")

        def work(handle: _Handle) -> bool:
            until = c_uint64()
            handle.check(lib.vcm_lock_extend(byref(until), handle.pointer, page, owner, more,
                                             byref(handle.error)))
            return True
        if not any(lock.locked_by == locked_by for lock in self._locks(name)):
            return False
        return bool(await self._run(work))

    def _locks(self, page_id: str) -> List[PageLock]:
        handle = self._open_handle()
        page = check.text(page_id, "page_id")
        return _collect(handle, native.LockEntryFn, lambda lock: PageLock(
            decode(lock.page_id) or "", decode(lock.owner) or "", lock.locked_until,
            decode(lock.reason)), lambda visit: lib.vcm_locks(
                handle.pointer, page, visit, None, byref(handle.error)))

    async def get_page_lock_info(self, page_id: PageName) -> Optional[PageLock]:
        """The lock that lasts longest, or None."""
        return max(self._locks(check.page_id(page_id)), key=lambda lock: lock.lock_expires_at,
                   default=None)

    async def pin_page(self, page_id: PageName) -> bool:
        """Keeps a page in memory until it is unpinned. False when it was pinned already."""
        return await self._pin(lib.vcm_pin, self._whole_id(page_id))

    async def unpin_page(self, page_id: PageName) -> bool:
        """Takes the page's own pin back; it stays while a scope that holds it is pinned. False
        when there was none."""
        return await self._pin(lib.vcm_unpin, self._whole_id(page_id))

    async def pin_scope(self, scope_id: str) -> bool:
        """Keeps all pages of a scope in memory. False when it was pinned already."""
        return await self._pin(lib.vcm_pin, await self._mapped(scope_id))

    async def unpin_scope(self, scope_id: str) -> bool:
        return await self._pin(lib.vcm_unpin, await self._mapped(scope_id))

    @staticmethod
    def _whole_id(page: PageName) -> bytes:
        """Not a prefix: that could be a scope's, too."""
        name = check.page_id(page)
        encoded = check.text(name, "page_id")
        if len(name) != PAGE_ID_DIGITS:
            raise native.VcmError(native.NOT_FOUND, f"'{name}' is no page id, which has "
                                  f"{PAGE_ID_DIGITS} digits")
        return encoded

    async def _mapped(self, scope_id: str) -> bytes:
        name = check.text(scope_id, "scope_id")
        if await self.get_application_scope_mapping_status(scope_id) is None:
            raise native.VcmError(native.NOT_FOUND, f"no scope '{scope_id}' is mapped")
        return name

    async def _pin(self, function: Any, name: bytes) -> bool:
        def work(handle: _Handle) -> bool:
            return any(_collect(handle, native.PinFn, lambda pin: pin.changed,
                                lambda visit: function(handle.pointer, name, visit, None,
                                                       byref(handle.error))))
        return bool(await self._run(work))

    # Everything else

    async def get_stats(self) -> Dict[str, Any]:
        handle = self._open_handle()
        stat = native.Stat()
        handle.check(lib.vcm_stat(byref(stat), handle.pointer, byref(handle.error)))
        found = {name: getattr(stat, name) for name, _ in stat._fields_}
        for name in ("home", "tokenizer", "policy"):
            found[name] = decode(found[name])
        found["pending_faults"] = sum(not task.done() for task in self._faults.values())
        return found

    async def ingest(self, files: Sequence[str] = (), *, profile: Optional[str] = None,
                     documents: Optional[Dict[str, bytes]] = None) -> List[Dict[str, Any]]:
        """Takes files, and documents by name, into the knowledge base."""
        names, count = encode_list(files, "files")
        held = check.documents(documents, "documents")
        array = (native.KbBytes * (len(held) + 1))(*held)
        options = native.KbIngestOptions(files=names, file_count=count, documents=array,
                                         document_count=len(held),
                                         profile=encode(profile, "profile"))

        def work(handle: _Handle) -> List[Dict[str, Any]]:
            return _collect(handle, native.KbFileFn, lambda file: {
                "path": decode(file.path), "status": decode(file.status),
                "data_type": decode(file.data_type), "chunks": file.chunks,
                "message": decode(file.message)}, lambda visit: lib.vcm_kb_ingest(
                    handle.pointer, byref(options), visit, None, byref(handle.error)))
        return await self._run(work)

    async def search(self, query: str, *, limit: int = 10, max_tokens: int = 0,
                     profile: Optional[str] = None, path: Optional[str] = None,
                     source: Optional[str] = None) -> List[SearchHit]:
        """Chunks of the knowledge base, best first."""
        options = native.KbSearchOptions(
            query=check.text(query, "query"), limit=check.count(limit, "limit"),
            max_tokens=check.count(max_tokens, "max_tokens", most=2 ** 63 - 1),
            filter=native.KbFilter(encode(source, "source"), encode(path, "path"),
                                   encode(profile, "profile")))

        def work(handle: _Handle) -> List[SearchHit]:
            total = c_uint64()
            return _collect(handle, native.KbChunkFn, lambda chunk: SearchHit(
                decode(chunk.chunk_id) or "", decode(chunk.source), decode(chunk.path) or "",
                decode(chunk.section) or "", chunk.page or None, decode(chunk.data_type) or "",
                chunk.score, chunk.tokens, ctypes.string_at(chunk.text, chunk.text_len).decode()),
                lambda visit: lib.vcm_kb_search(byref(total), handle.pointer, byref(options),
                                                visit, None, byref(handle.error)))
        return await self._run(work)
