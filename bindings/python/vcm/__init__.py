"""vcm - pages of context from version-controlled sources, over libvcm.

    async with vcm.VirtualContextManager() as manager:
        results = await manager.materialize_repo_map(origin_url="path/or/url")
        for page in await manager.get_pages_for_scope(results[0].scope_id):
            ...

The shared library is the one that VCM_LIBRARY names, else one next to this package, else the
installed one. vcm.results has the classes of what the calls return that are not here. See
docs/python.md.
"""

from ._native import VcmError, library_version
from ._source import Source, SourceRow
from .manager import VirtualContextManager
from .types import (ApplicationRecord, MmapConfig, MmapProgress, MmapResult, PageEvent, PageLock,
                    Reason, SearchHit, VirtualContextPage, reasons)

__all__ = ["ApplicationRecord", "MmapConfig", "MmapProgress", "MmapResult", "PageEvent", "PageLock",
           "Reason", "SearchHit", "Source", "SourceRow", "VcmError", "VirtualContextManager",
           "VirtualContextPage", "library_version", "reasons"]
__version__ = "0.1.0"
