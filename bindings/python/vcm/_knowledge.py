"""The knowledge base: taking documents in, searching, listing and clearing them."""

import ctypes
from ctypes import byref, c_uint64
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Sequence

from . import _arguments as check
from . import _native as native
from ._calls import Calls, Handle, collect
from ._native import decode, encode, encode_list, lib
from .types import SearchHit

if TYPE_CHECKING:
    from . import results
else:
    from ._lazy import results


def _filter(source: Optional[str], path: Optional[str], profile: Optional[str]) -> Any:
    return native.KbFilter(encode(source, "source"), encode(path, "path"),
                           encode(profile, "profile"))


class Knowledge(Calls):
    """The calls of the knowledge base."""

    async def kb_ingest(self, files: Sequence[str] = (), *, profile: Optional[str] = None,
                        documents: Optional[Dict[str, bytes]] = None,
                        source: Optional[str] = None, repository: Optional[str] = None,
                        jobs: int = 0) -> "List[results.KbFile]":
        """Takes files, documents by name (of this source), and everything that the routes of a
        repository name into the knowledge base. One that cannot be read is told, and the others
        are taken."""
        names, count = encode_list(files, "files")
        held = check.documents(documents, "documents")
        array = (native.KbBytes * (len(held) + 1))(*held)
        options = native.KbIngestOptions(
            files=names, file_count=count, documents=array, document_count=len(held),
            source=encode(source, "source"), repository=encode(repository, "repository"),
            profile=encode(profile, "profile"), jobs=check.count(jobs, "jobs"))
        return await self._run(lambda h: collect(
            h, native.KbFileFn, lambda file: results.take(results.KbFile, file),
            lambda visit: int(lib.vcm_kb_ingest(h.pointer, byref(options), visit, None,
                                                byref(h.error)))))

    async def kb_search(self, query: str, *, limit: int = 10, max_tokens: int = 0,
                        profile: Optional[str] = None, path: Optional[str] = None,
                        source: Optional[str] = None) -> List[SearchHit]:
        """Chunks of the knowledge base, best first."""
        options = native.KbSearchOptions(
            query=check.text(query, "query"), limit=check.count(limit, "limit"),
            max_tokens=check.count(max_tokens, "max_tokens", most=2 ** 63 - 1),
            filter=_filter(source, path, profile))

        def work(handle: Handle) -> List[SearchHit]:
            total = c_uint64()
            return collect(handle, native.KbChunkFn, lambda chunk: SearchHit(
                decode(chunk.chunk_id) or "", decode(chunk.source), decode(chunk.path) or "",
                decode(chunk.section) or "", chunk.page or None, decode(chunk.data_type) or "",
                chunk.score, chunk.tokens, ctypes.string_at(chunk.text, chunk.text_len).decode()),
                lambda visit: int(lib.vcm_kb_search(byref(total), handle.pointer, byref(options),
                                                    visit, None, byref(handle.error))))
        return list(await self._run(work))

    async def kb_show(self, chunk_id: str) -> "results.KbChunk":
        """One chunk by its id or a unique prefix."""
        name = check.text(chunk_id, "chunk_id")
        found = await self._run(lambda h: collect(
            h, native.KbChunkFn, lambda chunk: results.take(results.KbChunk, chunk),
            lambda visit: int(lib.vcm_kb_show(h.pointer, name, visit, None, byref(h.error)))))
        return found[0]

    async def kb_list(self, *, source: Optional[str] = None, path: Optional[str] = None,
                      profile: Optional[str] = None) -> "List[results.KbDocument]":
        """Documents by source and path: of a source (or a unique prefix), with paths that fit a
        gitignore pattern, of a profile."""
        selected = _filter(source, path, profile)
        return await self._run(lambda h: collect(
            h, native.KbDocumentFn, lambda item: results.take(results.KbDocument, item),
            lambda visit: int(lib.vcm_kb_list(h.pointer, byref(selected), visit, None,
                                              byref(h.error)))))

    async def kb_clear(self, *, source: Optional[str] = None, path: Optional[str] = None,
                       profile: Optional[str] = None, repository: Optional[str] = None,
                       route: int = 0, all: bool = False) -> "List[results.KbDocument]":
        """Removes documents in one transaction: those that kb_list() shows, those of a route of a
        repository's map (from 1), or all of them. Returns what was removed."""
        options = native.KbClearOptions(_filter(source, path, profile),
                                        encode(repository, "repository"),
                                        check.count(route, "route"))
        self._open_handle()
        chosen = any(value is not None for value in (source, path, profile)) or route > 0
        if check.flag(all, "all") == chosen:
            raise ValueError("either all, or some of source, path, profile and route must be "
                             "given")
        return await self._run(lambda h: collect(
            h, native.KbDocumentFn, lambda item: results.take(results.KbDocument, item),
            lambda visit: int(lib.vcm_kb_clear(h.pointer, byref(options), visit, None,
                                               byref(h.error)))))

    async def kb_stat(self) -> "results.KbStat":
        """Sums over the knowledge base."""
        def work(handle: Handle) -> Any:
            out = native.KbStat()
            handle.check(lib.vcm_kb_stat(byref(out), handle.pointer, byref(handle.error)))
            return results.take(results.KbStat, out)
        return await self._run(work)

    # The names that these had in 0.1.0.

    async def ingest(self, files: Sequence[str] = (), *, profile: Optional[str] = None,
                     documents: Optional[Dict[str, bytes]] = None) -> List[Dict[str, Any]]:
        """kb_ingest(), with dicts."""
        return [vars(file) for file in await self.kb_ingest(files, profile=profile,
                                                            documents=documents)]

    search = kb_search
