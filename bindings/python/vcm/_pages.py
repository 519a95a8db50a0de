"""Pages: reading, listing and rendering them."""

import ctypes
from ctypes import POINTER, byref, c_size_t, c_uint64, c_void_p
from typing import Any, Callable, Dict, List, Optional, TypeVar, Union

from . import _arguments as check
from . import _native as native
from ._calls import Handle, collect
from ._mapping import Mapping
from ._native import decode, encode, lib
from .types import ApplicationRecord, VirtualContextPage, frame_of

T = TypeVar("T")
PageName = Union[str, VirtualContextPage]


def _entry(page: Any) -> Dict[str, Any]:
    return {"page_id": decode(page.page_id), "scope_id": decode(page.scope_id), "seq": page.seq,
            "records": page.records, "tokens": page.tokens, "bytes": page.bytes,
            "state": decode(page.state), "pinned": page.pinned,
            "locked_until": page.locked_until or None,
            "files": [decode(page.files[i]) for i in range(page.file_count)]}


class Pages(Mapping):
    """The calls that read pages."""

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

    def _view(self, handle: Handle, page_id: str) -> VirtualContextPage:
        out = c_void_p()
        handle.check(lib.vcm_page_view_open(byref(out), handle.pointer, page_id.encode(),
                                            byref(handle.error)))
        return VirtualContextPage(self, page_id, frame_of(out.value or 0))

    def _open_text(self, page_id: str) -> memoryview:
        page = self._hit(page_id)
        if page is None:
            page = self._view(self._open_handle(), page_id)
        return page.text

    def _with_page(self, handle: Handle, page_id: str, take: Callable[[Any], T],
                   scope_id: Optional[bytes] = None) -> T:
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

        def work(handle: Handle) -> List[str]:
            return collect(handle, native.FindFn, lambda entry: decode(entry.page_id) or "",
                            lambda visit: int(lib.vcm_find_record(
                                handle.pointer, byref(query), visit, None, byref(handle.error))))
        return [VirtualContextPage(self, page) for page in dict.fromkeys(await self._run(work))]

    async def get_application_records_in_page(self, page_id: PageName) -> List[ApplicationRecord]:
        """The files, and parts of files, that a page holds, in order."""
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

        def work(handle: Handle) -> str:
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

    async def count_pages(self, scope_id: Optional[str] = None, *, path: Optional[str] = None,
                          state: Optional[str] = None, pinned: bool = False) -> int:
        """How many pages there are: of a scope, a file or directory, a state, or pinned ones."""
        query = native.PagesQuery(scope=encode(scope_id, "scope_id"), path=encode(path, "path"),
                                  state=encode(state, "state"),
                                  pinned=check.flag(pinned, "pinned"))

        def work(handle: Handle) -> int:
            count = c_uint64()
            handle.check(lib.vcm_pages_count(byref(count), handle.pointer, byref(query),
                                             byref(handle.error)))
            return count.value
        return int(await self._run(work))

    @staticmethod
    def _list(handle: Handle, scope: Optional[bytes], path: Optional[bytes],
              most: Optional[int]) -> List[Dict[str, Any]]:
        query = native.PagesQuery(scope=scope, path=path)
        found: List[Dict[str, Any]] = []
        while most is None or len(found) < most:
            cursor = c_void_p()
            found += collect(handle, native.PageEntryFn, _entry, lambda visit: int(lib.vcm_pages(
                byref(cursor), handle.pointer, byref(query), visit, None, byref(handle.error))))
            if not cursor.value:
                break
            query.cursor = ctypes.string_at(cursor.value)
            native.free(cursor)
        return found

