"""VirtualContextManager: the handle that Colony's materialiser calls, over libvcm.

Methods are coroutines of one event loop. What is in memory is answered at once; what takes time
runs in one of a few threads, each with a handle of its own, and cancelling the task cancels the work.
"""

from ._knowledge import Knowledge
from ._repository import Repository
from ._store import Store


class VirtualContextManager(Repository, Knowledge, Store):
    """One home of pages. Opened at once; closed with close() or by `async with`.

    `log` is called with a level ("error", "warning", "info" or "debug") and a line, from any
    thread; what it raises is reported as Python reports what a finalizer raises. `sources` are
    types of sources of your own, by name: see Source.

    Calls of the framework have the framework's names. The others are named after the command that
    does the same: kb_search() for `vcm kb search`. A repository is named by its path or URL, a
    scope by its id, its base or a unique prefix, a page by its id or a page object.
    """

    async def __aenter__(self) -> "VirtualContextManager":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()
