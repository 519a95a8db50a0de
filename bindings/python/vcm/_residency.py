"""Residency: faults, locks and pins."""

import asyncio
import itertools
from ctypes import byref, c_uint64
from typing import Any, Dict, Iterable, List, Optional, Tuple, Union

from . import _arguments as check
from . import _native as native
from ._calls import Handle, Shared, collect
from ._native import decode, encode, encode_list, lib
from ._pages import PageName, Pages
from .types import PageLock

OWNER = "python"
FAULTS_KEPT = 10000  # that ended, and that nobody waited for
PAGE_ID_DIGITS = 40


def _failed_page(page: Any) -> Optional[Tuple[str, native.VcmError]]:
    if not page.error:
        return None
    error = page.error.contents
    return decode(page.page_id) or "", native.VcmError(error.code, decode(error.message) or "")


class Residency(Pages):
    """The calls that decide which pages are in memory."""

    _numbers = itertools.count(1)  # names of faults

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
        alone, once a thread has it: others may wait for the same pages."""
        self._open_handle()

        def work() -> Dict[str, native.VcmError]:
            handle = Shared(self._fault_handle)
            return dict(filter(None, collect(handle, native.PageOutcomeFn, _failed_page,
                                              lambda visit: int(lib.vcm_fault(
                                                  handle.pointer, byref(query), visit, None,
                                                  byref(handle.error))))))
        job = self._fault_threads.submit(work)
        future = asyncio.wrap_future(job)
        future.add_done_callback(lambda done: done.cancelled() or done.exception())
        try:
            return await asyncio.shield(future)
        except asyncio.CancelledError:
            job.cancel()  # unless a thread has it already
            raise

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

        def work(handle: Handle) -> bool:
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

        def work(handle: Handle) -> bool:
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
        return collect(handle, native.LockEntryFn, lambda lock: PageLock(
            decode(lock.page_id) or "", decode(lock.owner) or "", lock.locked_until,
            decode(lock.reason)), lambda visit: int(lib.vcm_locks(
                handle.pointer, page, visit, None, byref(handle.error))))

    async def get_page_lock_info(self, page_id: PageName) -> Optional[PageLock]:
        """The lock that lasts longest, or None."""
        locks = sorted(self._locks(check.page_id(page_id)), key=lambda lock: lock.lock_expires_at)
        return locks[-1] if locks else None

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
        """Takes the scope's own pin back. False when there was none."""
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

    async def _pin(self, function: Any, name: bytes) -> bool:
        def work(handle: Handle) -> bool:
            return any(collect(handle, native.PinFn, lambda pin: pin.changed,
                                lambda visit: int(function(handle.pointer, name, visit, None,
                                                           byref(handle.error)))))
        return bool(await self._run(work))

