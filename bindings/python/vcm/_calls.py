"""How calls are made: handles, the threads that use them, and what stops them.

A call runs in one of WORKERS threads, with a handle that no other thread uses meanwhile. A call that
goes on for as long as somebody listens (a watch) has a thread and a handle of its own, so that it
takes no worker. Pages that are in memory are read on the event loop, with its own handle.
"""

import asyncio
import ctypes
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from ctypes import byref, c_void_p
from typing import Any, AsyncGenerator, Callable, Dict, List, Mapping, Optional, Set, TypeVar, Union

from . import _arguments as check
from . import _native as native
from ._native import decode, encode, lib
from ._source import Source, registration
from .types import MmapProgress

WORKERS = 8
FAULT_WORKERS = 4    # threads of the library that load pages
FAULT_THREADS = 256  # faults that wait for them, and are served by priority; more wait in order
STREAM_WAITING = 10000  # items of a stream that nobody took yet; the library waits then
LOG_LEVELS = ("error", "warning", "info", "debug")
LogFunction = Callable[[str, str], None]
ProgressFunction = Callable[[MmapProgress], None]
T = TypeVar("T")


class Log:
    """Hands the library's log lines to a function: level and line, in the thread that logs."""

    def __init__(self, function: LogFunction, level: str):
        def write(_context: Any, number: int, line: bytes) -> None:
            function(LOG_LEVELS[number], decode(line) or "")

        self.sink = native.LogFn(write)
        self.native = native.Log(self.sink, None, LOG_LEVELS.index(level))


class Progress:
    """Hands progress to a function on the event loop; what comes faster than it is taken is
    dropped, but never the last."""

    def __init__(self, function: Optional[ProgressFunction]):
        self.function = function
        self.loop = asyncio.get_running_loop()
        self.latest: Optional[MmapProgress] = None
        self.native: Any = native.ProgressFn(self._take) if function else None

    def _take(self, _context: Any, item: Any) -> None:
        waiting, found = self.latest, item.contents
        self.latest = MmapProgress(found.files, found.pages, found.tokens, found.bytes)
        if waiting is None and not self.loop.is_closed():
            self.loop.call_soon_threadsafe(self.tell)

    def tell(self) -> None:
        """Calls the function, with what came last."""
        progress, self.latest = self.latest, None
        if progress is None or self.function is None:
            return
        try:
            self.function(progress)
        except Exception as error:  # the mapping goes on
            self.loop.call_exception_handler({"message": "a progress function failed",
                                              "exception": error})


class Handle:
    """An open handle with its cancel flag and its error; used by one thread at a time."""

    def __init__(self, home: Optional[bytes], log: Optional[Log], sources: List[Any],
                 fault_workers: int = 0):
        self.cancel = native.Cancel()
        self.error = native.Error()
        self.pointer = c_void_p()
        self.log, self.sources = log, sources  # live as long as the handle
        options = native.OpenOptions(home=home, cancel=ctypes.pointer(self.cancel),
                                     log=ctypes.pointer(log.native) if log else None,
                                     fault_workers=fault_workers)
        self.check(lib.vcm_open(byref(self.pointer), byref(options), byref(self.error)))
        for source in sources:
            code = lib.vcm_register_source(self.pointer, byref(source), byref(self.error))
            if code != native.OK:
                self.close()
                self.check(code)

    def check(self, code: int) -> None:
        """Raises what the last call said, unless it went well."""
        if code != native.OK:
            raise native.failure(self.error)

    def close(self) -> None:
        """Gives the handle back; a second time does nothing."""
        pointer, self.pointer = self.pointer, c_void_p()
        lib.vcm_close(pointer)


class Shared:
    """A handle that has fault workers, as one of the threads uses it that fault pages with it."""

    def __init__(self, handle: Handle):
        self.pointer = handle.pointer
        self.error = native.Error()

    def check(self, code: int) -> None:
        """Raises what the last call said, unless it went well."""
        if code != native.OK:
            raise native.failure(self.error)


def collect(handle: Union[Handle, Shared], struct_fn: Any, take: Callable[[Any], T],
            call: Callable[[Any], int]) -> List[T]:
    """Calls a function that shows structs one after the other; what `take` makes of each."""
    found: List[T] = []
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


class _Call:
    """Work for a thread. It gets a handle when a thread begins it, so that there are no more handles
    than threads, however many calls wait."""

    def __init__(self, calls: "Calls", work: Callable[[Handle], Any]):
        self.calls = calls
        self.work = work
        self.lock = threading.Lock()
        self.handle: Optional[Handle] = None  # while the work is under way
        self.cancelled = False

    def run(self) -> Any:
        handle = self.calls._take()
        try:
            with self.lock:
                self.handle = handle
                if self.cancelled:
                    return None  # nobody waits for it
            return self.work(handle)
        finally:
            with self.lock:
                self.handle = None
            self.calls._put_back(handle)

    def cancel(self) -> None:
        with self.lock:
            self.cancelled = True
            if self.handle is not None:
                lib.vcm_cancel_request(byref(self.handle.cancel))


class Stream:
    """A call that shows one item after the other until it is cancelled: a thread and a handle of
    its own, whose items the event loop takes."""

    def __init__(self, handle: Handle, work: Callable[["Stream"], int]):
        self.handle = handle
        self.work = work
        self.loop = asyncio.get_running_loop()
        self.items: "asyncio.Queue[Any]" = asyncio.Queue()
        self.room = threading.Semaphore(STREAM_WAITING)
        self.done = asyncio.Event()
        self.cancelled = False
        self.failed: Optional[BaseException] = None
        self.thread = threading.Thread(target=self._run, name="vcm-stream")
        self.idle = native.IdleFn(lambda _context, _error: self._goes_on())

    def _goes_on(self) -> int:
        """Nobody listens to an event loop that is closed, or to a program that has ended."""
        ended = self.cancelled or self.loop.is_closed() or not threading.main_thread().is_alive()
        return native.INTERRUPTED if ended else native.OK

    def put(self, item: Any) -> int:
        """In the thread: hands an item over, and waits while there are too many."""
        while not self.room.acquire(timeout=0.1):
            if self._goes_on() != native.OK:
                return native.INTERRUPTED
        return self._post(self.items.put_nowait, item)

    def _post(self, function: Callable[..., None], *arguments: Any) -> int:
        try:
            self.loop.call_soon_threadsafe(function, *arguments)
        except RuntimeError:  # the loop is closed
            return native.INTERRUPTED
        return native.OK

    def visitor(self, struct_fn: Any, take: Callable[[Any], Any]) -> Any:
        """A callback that hands over what `take` makes of each struct."""
        def visit(_context: Any, item: Any, _error: Any) -> int:
            try:
                return self.put(take(item.contents))
            except BaseException as error:  # it must not cross the library
                self.failed = error
                return native.INTERRUPTED
        return struct_fn(visit)

    def _run(self) -> None:
        try:
            self.handle.check(self.work(self))
        except BaseException as error:
            self.failed = self.failed or error
        finally:
            self.handle.close()
            self._post(self.items.put_nowait, self)  # the end
            self._post(self.done.set)

    def cancel(self) -> None:
        """Asks the thread to end; it does so soon."""
        self.cancelled = True
        lib.vcm_cancel_request(byref(self.handle.cancel))

    async def ended(self) -> None:
        """Waits until the thread has closed its handle, however often the task is cancelled."""
        waiting = asyncio.ensure_future(self.done.wait())
        cancelled: Optional[asyncio.CancelledError] = None
        while not waiting.done():
            try:
                await asyncio.wait([waiting])
            except asyncio.CancelledError as error:
                cancelled = error
        if cancelled is not None:
            raise cancelled


class Calls:
    """A home, and the handles and threads of its manager."""

    def __init__(self, home: Union[str, "os.PathLike[str]", None] = None, *,
                 log: Optional[LogFunction] = None, log_level: str = "warning",
                 sources: Optional[Mapping[str, Source]] = None):
        self._home = encode(home, "home")
        check.function(log, "log")
        if log_level not in LOG_LEVELS:
            raise ValueError(f"log_level must be one of {', '.join(LOG_LEVELS)}, "
                             f"not {log_level!r}")
        self._log = Log(log, log_level) if log is not None else None
        self._sources = [registration(name, source)
                         for name, source in check.sources(sources, "sources").items()]
        self._process = os.getpid()
        self._closed = False
        self._lock = threading.Lock()
        self._idle: List[Handle] = []
        self._faults: Dict[str, "asyncio.Task[bool]"] = {}
        self._fault_errors: Dict[str, Dict[str, native.VcmError]] = {}
        self._streams: Set[Stream] = set()
        self._handle = self._new_handle()
        self._out = c_void_p()
        self._call = (lib.vcm_page_view_open_hit, byref(self._out), byref(self._handle.error))
        self._threads = ThreadPoolExecutor(WORKERS, thread_name_prefix="vcm")
        self._fault_handle = self._new_handle(FAULT_WORKERS)
        self._fault_threads = ThreadPoolExecutor(FAULT_THREADS, thread_name_prefix="vcm-fault")

    async def aclose(self) -> None:
        """Waits for work that is under way, and closes. Pages that are open stay readable."""
        tasks = [*self._faults.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        streams = [*self._streams]
        for stream in streams:
            stream.cancel()
        await asyncio.gather(*(stream.ended() for stream in streams))
        lib.vcm_cancel_request(byref(self._fault_handle.cancel))
        for threads in (self._threads, self._fault_threads):
            await asyncio.get_running_loop().run_in_executor(None, threads.shutdown)
        self.close()

    def close(self) -> None:
        """aclose() without an event loop: blocks until work that is under way has ended."""
        if self._closed:
            return
        self._closed = True
        lib.vcm_cancel_request(byref(self._fault_handle.cancel))
        for stream in [*self._streams]:
            stream.cancel()
            stream.thread.join()
        self._threads.shutdown()
        self._fault_threads.shutdown()
        for handle in [self._handle, self._fault_handle, *self._idle]:
            handle.close()
        self._idle.clear()

    def _open_handle(self) -> Handle:
        if self._closed:
            raise native.VcmError(native.INVALID_ARGUMENT,
                                  "the manager is closed; open another one")
        if self._process != os.getpid():  # its threads are not there
            raise native.VcmError(native.INVALID_ARGUMENT, "the manager was opened by process "
                                  f"{self._process}, before a fork; open one here")
        return self._handle

    def _new_handle(self, fault_workers: int = 0) -> Handle:
        return Handle(self._home, self._log, self._sources, fault_workers)

    def _take(self) -> Handle:
        with self._lock:
            if self._idle:
                return self._idle.pop()
        return self._new_handle()

    def _put_back(self, handle: Handle) -> None:
        lib.vcm_cancel_reset(byref(handle.cancel))
        with self._lock:
            self._idle.append(handle)

    async def _run(self, work: Callable[[Handle], T]) -> T:
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

    async def _stream(self, work: Callable[[Stream], int]) -> AsyncGenerator[Any, None]:
        """The items of a call that goes on until nobody listens, or the manager is closed."""
        self._open_handle()
        stream = Stream(self._new_handle(), work)
        self._streams.add(stream)
        stream.thread.start()
        try:
            while (item := await stream.items.get()) is not stream:
                stream.room.release()
                yield item
            if stream.failed is not None and not stream.cancelled:
                raise stream.failed
        finally:
            stream.cancel()
            try:
                await stream.ended()
            finally:
                self._streams.discard(stream)
