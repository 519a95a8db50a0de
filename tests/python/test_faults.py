"""Faults of many tasks: who is served first, what is read once, and what did not come in."""

import asyncio
import threading
import unittest

import fixture
import vcm
from vcm import _calls

FILES = 12


class Gated:
    """A source of small files whose reads wait while its gate is closed, and are remembered."""

    def __init__(self):
        self.gate, self.arrived = threading.Event(), threading.Event()
        self.gate.set()
        self.order = []

    def walk(self, _row):
        for i in range(FILES):
            yield f"{i:03}", f"{i:03}"

    def read(self, _row, path):
        self.arrived.set()
        self.gate.wait()
        self.order.append(int(path))
        return path * 100


class Faults(fixture.Case):
    async def asyncSetUp(self):
        await super().asyncSetUp()
        await self.manager.aclose()
        workers, _calls.FAULT_WORKERS = _calls.FAULT_WORKERS, 1
        self.addCleanup(setattr, _calls, "FAULT_WORKERS", workers)
        self.asked = []
        self.gated = Gated()
        self.manager = vcm.VirtualContextManager(self.home, log=self.log, log_level="debug",
                                                 sources={"gated": self.gated})
        await self.manager.mmap_application_scope(
            scope_id="gated", origin_url=self.repo, source_type="gated",
            config=vcm.MmapConfig(flush_threshold=1))
        self.pages = [p.page_id for p in await self.manager.get_pages_for_scope("gated")]
        self.assertEqual(len(self.pages), FILES)

    def log(self, _level, line):
        if "are asked for" in line:
            self.asked.append(line)

    async def evict(self):
        await self.manager.evict(all=True, target="evicted")
        self.gated.order.clear()
        self.gated.arrived.clear()
        self.asked.clear()

    async def until(self, condition):
        while not condition():
            await asyncio.sleep(0.01)

    async def test_a_later_fault_of_higher_priority_is_served_first(self):
        await self.evict()
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
        await self.evict()
        self.gated.gate.clear()
        faults = [await self.manager.issue_page_fault(self.pages[7]) for _ in range(100)]
        await self.until(lambda: len(self.asked) == 100)
        self.gated.gate.set()
        for fault in faults:
            self.assertTrue(await self.manager.wait_for_pages(fault))
        self.assertEqual(self.gated.order, [7])

    async def test_what_did_not_come_in_is_told(self):
        await self.evict()
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
        await self.evict()
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
