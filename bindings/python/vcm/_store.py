"""The store: what is in it, evicting, checking, recording; settings; checks of the machine."""

from ctypes import byref, c_uint64
from typing import TYPE_CHECKING, Any, AsyncIterator, Dict, Iterable, List, Optional, Tuple, Union

from . import _arguments as check
from . import _native as native
from ._calls import Handle, Stream, collect
from ._mapping import coverage_of
from ._native import decode, encode, encode_list, lib
from ._pages import PageName, Pages

if TYPE_CHECKING:
    from . import results
else:
    from ._lazy import results

COUNT_MAX = 2 ** 63 - 1
FINDING_STATUS = ("ok", "warning", "error")


def _stats(stat: Any) -> Dict[str, Any]:
    found = {name: getattr(stat, name) for name, _ in stat._fields_}
    for name in ("home", "tokenizer", "policy"):
        found[name] = decode(found[name])
    return found


def _setting(entry: Any) -> "results.Setting":
    def typed(value: Optional[str]) -> Any:
        if value is None:
            return None
        return value == "true" if entry.is_bool else int(value) if entry.is_number else value
    return results.Setting(decode(entry.key) or "", typed(decode(entry.value)),
                          typed(decode(entry.default_value)), entry.is_set)


class Store(Pages):
    """The calls about the store as a whole."""

    async def get_stats(self) -> Dict[str, Any]:
        """Sums over the store, and how many faults of this manager are pending."""
        handle = self._open_handle()
        stat = native.Stat()
        handle.check(lib.vcm_stat(byref(stat), handle.pointer, byref(handle.error)))
        found = _stats(stat)
        found["pending_faults"] = sum(not task.done() for task in self._faults.values())
        return found

    async def coverage(self, scope_id: str, *, reason: Optional[str] = None
                       ) -> "results.CoverageResult":
        """What became of every path of a scope's tree, or of those with an outcome or reason; see
        reasons()."""
        query = native.CoverageQuery(check.text(scope_id, "scope_id"), encode(reason, "reason"))

        def work(handle: Handle) -> Any:
            scopes: List[Tuple[str, str, Dict[str, int]]] = []

            def call(visit: Any) -> int:
                def on_scope(_context: Any, item: Any, _error: Any) -> int:
                    scopes.append((decode(item.contents.scope_id) or "",
                                   decode(item.contents.commit) or "",
                                   coverage_of(item.contents.coverage)))
                    return native.OK
                return int(lib.vcm_coverage(handle.pointer, byref(query),
                                            native.ScopeFn(on_scope), visit, None,
                                            byref(handle.error)))
            files = collect(handle, native.CoverageFn,
                            lambda file: results.take(results.CoverageFile, file), call)
            return results.CoverageResult(*scopes[0], files=files)
        return await self._run(work)

    async def evict(self, page_ids: Union[PageName, Iterable[PageName], None] = None, *,
                    scope_id: Optional[str] = None, all: bool = False,
                    target: str = "compressed") -> "results.EvictResult":
        """Compresses pages, or evicts them (`target` "evicted"): these, those of a scope or base,
        or all. Pages that are pinned, locked or viewed stay, which is told."""
        pages, count = encode_list(None if page_ids is None else check.page_ids(page_ids),
                                   "page_ids")
        query = native.EvictQuery(pages, count, encode(scope_id, "scope_id"),
                                  check.flag(all, "all"), check.text(target, "target"))
        self._open_handle()
        if [page_ids is not None, scope_id is not None, all].count(True) != 1:
            raise ValueError("one of page_ids, scope_id and all must be given")

        def work(handle: Handle) -> Any:
            out = native.EvictResult()
            visited = collect(handle, native.PageOutcomeFn,
                              lambda page: results.take(results.EvictedPage, page),
                              lambda visit: int(lib.vcm_evict(
                                  byref(out), handle.pointer, byref(query), visit, None,
                                  byref(handle.error))))
            return results.EvictResult(visited, out.pages_compressed, out.pages_evicted,
                                      out.pages_stayed)
        return await self._run(work)

    async def verify(self, *, deep: bool = False) -> "results.VerifyResult":
        """Hashes every page and checks every index; `deep` also rebuilds evicted pages."""
        check.flag(deep, "deep")

        def work(handle: Handle) -> Any:
            out = native.VerifyResult()
            findings = collect(handle, native.VerifyFn,
                               lambda item: results.take(results.VerifyFinding, item),
                               lambda visit: int(lib.vcm_verify(
                                   byref(out), handle.pointer, deep, visit, None,
                                   byref(handle.error))))
            return results.VerifyResult(out.ok, out.pages_checked, findings)
        return await self._run(work)

    async def gc(self, *, unused_s: Optional[float] = None) -> "results.GcResult":
        """Removes what no scope refers to, compacts the file, and removes clones that were not used
        for so long (two weeks, at least an hour)."""
        unused = check.seconds(unused_s, "unused_s") if unused_s is not None else 0

        def work(handle: Handle) -> Any:
            counts, clones = native.GcCounts(), native.GcCloneCounts()
            handle.check(lib.vcm_gc(byref(counts), handle.pointer, byref(handle.error)))
            handle.check(lib.vcm_gc_clones(byref(clones), handle.pointer, unused,
                                           byref(handle.error)))
            return results.GcResult(counts.pages_dropped, counts.bytes_before, counts.bytes_after,
                                   clones.dropped, clones.kept, clones.bytes)
        return await self._run(work)

    async def top(self, *, interval_s: float = 1.0, count: int = 0
                  ) -> "AsyncIterator[results.TopSample]":
        """Samples the store at intervals: `count` times, 0 until it is closed."""
        options = native.TopOptions(interval_ms=check.seconds(interval_s, "interval_s"),
                                    count=check.count(count, "count", most=COUNT_MAX))

        def take(sample: Any) -> Any:
            return results.TopSample(
                _stats(sample.stat), sample.faults_per_second if sample.has_rate else None,
                [results.take(results.TopScope, scope)
                 for scope in sample.scopes[:sample.scope_count]])

        def work(stream: Stream) -> int:
            options.visit, options.idle = stream.visitor(native.TopFn, take), stream.idle
            return int(lib.vcm_top(stream.handle.pointer, byref(options),
                                   byref(stream.handle.error)))
        samples = self._stream(work)
        try:
            async for sample in samples:
                yield sample
        finally:
            await samples.aclose()

    async def trace_record(self, *, duration_s: Optional[float] = None, count: int = 0
                           ) -> "AsyncIterator[results.TraceAccess]":
        """Every read of a page, by any process: for so long, or so many, or until it is closed.
        STORE_BUSY while somebody else records."""
        options = native.TraceRecordOptions(
            duration_ms=0 if duration_s is None else check.seconds(duration_s, "duration_s"),
            count=check.count(count, "count", most=COUNT_MAX))

        def work(stream: Stream) -> int:
            out = native.TraceRecorded()
            options.visit = stream.visitor(
                native.TraceAccessFn, lambda item: results.take(results.TraceAccess, item))
            options.idle = stream.idle
            return int(lib.vcm_trace_record(byref(out), stream.handle.pointer, byref(options),
                                            byref(stream.handle.error)))
        accesses = self._stream(work)
        try:
            async for access in accesses:
                yield access
        finally:
            await accesses.aclose()

    async def trace_replay(self, file: str, *, capacity: int = 0) -> "results.TraceReplay":
        """A trace against every eviction policy and the optimum, at a capacity in bytes, or at five
        fractions of the size of its pages."""
        name = check.text(file, "file")
        most = check.count(capacity, "capacity", most=COUNT_MAX)

        def work(handle: Handle) -> Any:
            accesses = c_uint64()
            policies = collect(handle, native.TraceOutcomeFn,
                               lambda item: results.take(results.TraceOutcome, item),
                               lambda visit: int(lib.vcm_trace_replay_file(
                                   byref(accesses), handle.pointer, name, most, visit, None,
                                   byref(handle.error))))
            return results.TraceReplay(accesses.value, policies)
        return await self._run(work)

    async def config_list(self) -> "List[results.Setting]":
        """Every setting of this home."""
        return await self._run(lambda h: collect(
            h, native.ConfigFn, _setting, lambda visit: int(lib.vcm_config_list(
                h.pointer, visit, None, byref(h.error)))))

    async def config_get(self, key: str) -> "results.Setting":
        """One setting. INVALID_ARGUMENT for a key that there is not."""
        name = check.text(key, "key")
        found = await self._run(lambda h: collect(
            h, native.ConfigFn, _setting, lambda visit: int(lib.vcm_config_get(
                h.pointer, name, visit, None, byref(h.error)))))
        return found[0]

    async def config_set(self, key: str, value: str) -> None:
        """Changes one setting, in config.yaml."""
        name, text = check.text(key, "key"), check.text(value, "value")
        await self._run(lambda h: h.check(lib.vcm_config_set(h.pointer, name, text,
                                                             byref(h.error))))

    async def doctor(self) -> "List[results.Finding]":
        """Whether this machine can run vcm: checks, with what to do."""
        return await self._run(lambda h: collect(
            h, native.FindingFn, lambda item: results.take(
                results.Finding, item, status=FINDING_STATUS[item.status]),
            lambda visit: int(lib.vcm_doctor(h.pointer, visit, None, byref(h.error)))))
