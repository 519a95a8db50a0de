"""Watches beside other calls: they take no worker, and end with their task, the manager, the
program."""

import asyncio
import os
import subprocess
import sys
import threading

import fixture
from vcm import _calls

WATCHES = _calls.WORKERS + 4
EXITS = """
import asyncio, sys
import fixture
from fixture import vcm
async def main():
    manager = vcm.VirtualContextManager(sys.argv[2])
    watch = manager.watch(origin_url=sys.argv[1], base_scope_id="w")
    first = asyncio.ensure_future(watch.__anext__())
    while not await manager.is_application_scope_mapped("w:notes"):
        await asyncio.sleep(0.02)
    page = (await manager.get_pages_for_scope("w:notes"))[0]
    return manager, watch, first, page, page.text
loop = asyncio.new_event_loop()
kept = loop.run_until_complete(main())
print("ended", flush=True)
"""


class Watches(fixture.Case):
    async def begin(self, count):
        """So many watches of one repository, all of which wait for it to change."""
        def follow(i):
            async def first():
                async for event in self.manager.watch(origin_url=self.repo, poll_s=0.5,
                                                      base_scope_id=f"w{i}"):
                    return event
            return asyncio.ensure_future(first())
        tasks = [follow(i) for i in range(count)]
        for i in range(count):
            while not await self.manager.is_application_scope_mapped(f"w{i}:notes"):
                self.assertFalse(tasks[i].done())
                await asyncio.sleep(0.02)
        return tasks

    async def end(self, tasks):
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def test_more_watches_than_workers_leave_the_workers_to_other_calls(self):
        tasks = await self.begin(WATCHES)
        result = await asyncio.wait_for(self.map(), 60)
        self.assertEqual(result.status, "mapped")
        pages = await self.manager.get_pages_for_scope(fixture.COLONY)
        await asyncio.wait_for(asyncio.gather(*(
            self.manager.get_application_records_in_page(page) for page in pages)), 60)
        fixture.write(self.repo, "notes.txt", "another note\n")
        fixture.commit(self.repo)
        events = await asyncio.wait_for(asyncio.gather(*tasks), 60)
        self.assertEqual({event.kind for event in events}, {"page_replaced"})
        self.assertLessEqual(len(self.manager._idle), _calls.WORKERS)
        while self.manager._streams:  # a watch that is left by `return` is closed soon afterwards
            await asyncio.sleep(0.02)

    async def test_a_call_is_cancelled_beside_watches(self):
        tasks = await self.begin(WATCHES)
        held = fixture.WriterLock(self.home)
        call = asyncio.ensure_future(self.map())
        await asyncio.sleep(0.1)
        call.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await asyncio.wait_for(call, 60)
        held.release()
        await self.end(tasks)

    async def test_threads_and_descriptors_are_given_back(self):
        await self.end(await self.begin(2))
        threads, files = threading.active_count(), len(os.listdir("/proc/self/fd"))
        for _ in range(3):
            await self.end(await self.begin(4))
        self.assertLessEqual(len(os.listdir("/proc/self/fd")), files)
        while threading.active_count() > threads:  # one that closed its handle is about to end
            await asyncio.sleep(0.02)

    async def test_a_watch_ends_when_the_manager_is_closed(self):
        tasks = await self.begin(3)
        await asyncio.wait_for(self.manager.aclose(), 60)
        self.assertEqual(await asyncio.wait_for(asyncio.gather(*tasks), 60), [None] * 3)

    async def test_a_watch_that_nobody_reads_does_not_fill_memory(self):
        self.addCleanup(setattr, _calls, "STREAM_WAITING", _calls.STREAM_WAITING)
        _calls.STREAM_WAITING = 5
        stopped = []

        def work(stream):
            while stream.put(len(stopped)) == 0:
                stopped.append(None)
            return 0
        stream = self.manager._stream(work)
        self.assertEqual(await stream.__anext__(), 0)
        while len(stopped) < 6:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.3)
        self.assertEqual(len(stopped), 6)
        await stream.aclose()

    async def test_a_fault_that_has_not_begun_ends_when_it_is_cancelled(self):
        await self.map()
        page = (await self.manager.get_pages_for_scope(fixture.COLONY))[0].page_id
        gate = threading.Event()
        for _ in range(_calls.FAULT_THREADS):
            self.manager._fault_threads.submit(gate.wait)
        task = asyncio.ensure_future(self.manager.request_page_load(page))
        await asyncio.sleep(0.05)
        queued = self.manager._fault_threads._work_queue
        self.assertEqual(queued.qsize(), 1)
        waiting = queued.queue[0] if hasattr(queued, "queue") else queued.get()
        task.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await asyncio.wait_for(task, 60)
        self.assertTrue(waiting.future.cancelled())
        gate.set()

    async def test_a_program_ends_with_watches_and_views_open(self):
        done = subprocess.run([sys.executable, "-B", "-c", EXITS, self.repo, self.home],
                              cwd=os.path.dirname(os.path.abspath(__file__)), text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300,
                              check=False, env=fixture.INTERPRETER)
        self.assertEqual((done.returncode, done.stdout), (0, "ended\n"), done.stderr)


if __name__ == "__main__":
    fixture.main()
