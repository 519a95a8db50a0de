"""Faults of many tasks: who is served first, what is read once, and what did not come in."""

import asyncio
import ctypes
import threading
import unittest
from ctypes import CFUNCTYPE, POINTER, Structure, c_bool, c_char_p, c_int, c_size_t, c_uint64, c_void_p

import fixture
import vcm
from vcm import _native as native
from vcm import manager

FILES = 12


class Entry(Structure):
    _fields_ = [("path", c_void_p), ("path_len", c_size_t), ("content_id", c_void_p),
                ("content_id_len", c_size_t)]


EntryFn = CFUNCTYPE(c_int, c_void_p, POINTER(Entry), c_void_p)
TextFn = CFUNCTYPE(c_int, c_void_p, c_char_p, c_size_t, c_void_p)


class Definition(Structure):
    _fields_ = [("name", c_char_p), ("context", c_void_p),
                ("open", CFUNCTYPE(c_int, POINTER(c_void_p), c_void_p, c_void_p, c_void_p)),
                ("walk", CFUNCTYPE(c_int, c_void_p, EntryFn, c_void_p, c_void_p)),
                ("read", CFUNCTYPE(c_int, c_void_p, POINTER(Entry), TextFn, c_void_p, c_void_p)),
                ("close", CFUNCTYPE(None, c_void_p))]


class EvictQuery(Structure):
    _fields_ = [("pages", c_void_p), ("count", c_size_t), ("scope", c_char_p), ("all", c_bool),
                ("target", c_char_p)]


class Gated:
    """A source of small files whose reads wait while its gate is closed, and are remembered."""

    def __init__(self):
        self.gate, self.arrived = threading.Event(), threading.Event()
        self.gate.set()
        self.order = []
        types = dict(Definition._fields_)
        self.definition = Definition(
            b"gated", None, types["open"](self.open), types["walk"](self.walk),
            types["read"](self.read), types["close"](lambda _source: None))

    def open(self, out, _context, _row, _error):
        out[0] = 1
        return native.OK

    def walk(self, _source, visit, context, error):
        for i in range(FILES):
            path = ctypes.create_string_buffer(b"%03d" % i, 3)
            address = ctypes.addressof(path)
            code = visit(context, ctypes.byref(Entry(address, 3, address, 3)), error)
            if code != native.OK:
                return code
        return native.OK

    def read(self, _source, entry, write, context, error):
        path = ctypes.string_at(entry.contents.path, 3)
        self.arrived.set()
        self.gate.wait()
        self.order.append(int(path))
        text = path * 100
        return write(context, text, len(text), error)


class Faults(fixture.Case):
    async def asyncSetUp(self):
        await super().asyncSetUp()
        await self.manager.aclose()
        workers, manager.FAULT_WORKERS = manager.FAULT_WORKERS, 1
        self.addCleanup(setattr, manager, "FAULT_WORKERS", workers)
        self.asked = []
        self.manager = vcm.VirtualContextManager(self.home, log=self.log, log_level="debug")
        self.gated = Gated()
        handle = self.manager._take()
        for used in (handle, self.manager._fault_handle):
            used.check(native.lib.vcm_register_source(
                used.pointer, ctypes.byref(self.gated.definition), ctypes.byref(used.error)))
        self.manager._put_back(handle)
        self.handle = handle
        await self.manager.mmap_application_scope(
            scope_id="gated", origin_url=self.repo, source_type="gated",
            config=vcm.MmapConfig(flush_threshold=1))
        self.pages = [p.page_id for p in await self.manager.get_pages_for_scope("gated")]
        self.assertEqual(len(self.pages), FILES)

    def log(self, _level, line):
        if "are asked for" in line:
            self.asked.append(line)

    def evict(self):
        result = (c_uint64 * 3)()
        query = EvictQuery(all=True, target=b"evicted")
        self.handle.check(native.lib.vcm_evict(
            ctypes.byref(result), self.handle.pointer, ctypes.byref(query), None, None,
            ctypes.byref(self.handle.error)))
        self.gated.order.clear()
        self.gated.arrived.clear()
        self.asked.clear()

    async def until(self, condition):
        while not condition():
            await asyncio.sleep(0.01)

    async def test_a_later_fault_of_higher_priority_is_served_first(self):
        self.evict()
        self.gated.gate.clear()
        faults = [await self.manager.issue_page_fault(self.pages[0])]
        await self.until(self.gated.arrived.is_set)
        for i, priority in enumerate([1, 5, 3, 5, 9], 1):
            faults.append(await self.manager.issue_page_fault(self.pages[i], priority=priority))
            await self.until(lambda: len(self.asked) > i)
        self.gated.gate.set()
        for fault in faults:
            self.assertTrue(await self.manager.wait_for_pages(fault))
        self.assertEqual(self.gated.order, [0, 5, 2, 4, 3, 1])

    async def test_many_faults_of_one_page_read_it_once(self):
        self.evict()
        self.gated.gate.clear()
        faults = [await self.manager.issue_page_fault(self.pages[7]) for _ in range(100)]
        await self.until(lambda: len(self.asked) == 100)
        self.gated.gate.set()
        for fault in faults:
            self.assertTrue(await self.manager.wait_for_pages(fault))
        self.assertEqual(self.gated.order, [7])

    async def test_what_did_not_come_in_is_told(self):
        self.evict()
        lock = fixture.WriterLock(self.home)
        fault = await self.manager.issue_page_fault(self.pages[:3])
        self.assertFalse(await self.manager.wait_for_pages(fault))
        lock.release()
        errors = await self.manager.get_fault_errors(fault)
        self.assertEqual({page: error.code for page, error in errors.items()},
                         {page: "STORE_BUSY" for page in self.pages[:3]})
        fault = await self.manager.issue_page_fault(self.pages[:3])
        self.assertTrue(await self.manager.wait_for_pages(fault))
        self.assertEqual(await self.manager.get_fault_errors(fault), {})

    async def test_closing_does_not_wait_for_what_is_queued(self):
        self.evict()
        self.gated.gate.clear()
        await self.manager.issue_page_fault(self.pages[0])
        await self.until(self.gated.arrived.is_set)
        waiting = asyncio.ensure_future(self.manager.request_page_load(self.pages[1]))
        await self.until(lambda: len(self.asked) == 2)
        threading.Timer(0.3, self.gated.gate.set).start()  # what is being read is not left
        await self.manager.aclose()
        with self.assertRaises(vcm.VcmError) as caught:
            await waiting
        self.assertEqual(caught.exception.code, "INTERRUPTED")
        self.assertEqual(self.gated.order, [0])


if __name__ == "__main__":
    unittest.main()
