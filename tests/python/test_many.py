"""Many calls at once: what they take of the process's files and of the home's reader slots."""

import asyncio
import os
import re
import resource
import subprocess
import time

import fixture
from vcm import _calls

CALLS = 1000
FILES = 256      # that the process may have open
READS_MUCH = 40  # after so many a handle keeps a reader slot for the next


class Many(fixture.Case):
    async def asyncSetUp(self):
        await super().asyncSetUp()
        await self.map()
        self.pages = [page.page_id for page in
                      await self.manager.get_pages_for_scope(fixture.COLONY)]

    def allow_files(self, count):
        before = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(count, before[1]), before[1]))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, before)

    def run_vcm(self, *arguments):
        environment = {**os.environ, "VCM_HOME": self.home}
        return subprocess.run([os.environ["VCM_PROGRAM"], *arguments, "--json"], env=environment,
                              stdout=subprocess.PIPE, text=True, check=False)

    def slots_in_use(self):
        found = re.search(r"(\d+) of \d+ reader slots in use", self.run_vcm("doctor").stdout)
        return int(found.group(1)) if found else None

    def read(self, count):
        return [self.manager.get_application_records_in_page(self.pages[i % len(self.pages)])
                for i in range(count)]

    async def test_the_program_can_still_open_files(self):
        self.allow_files(FILES)
        before = len(os.listdir("/proc/self/fd"))

        async def open_files():
            for _ in range(20):
                with open(os.devnull, "rb"):
                    await asyncio.sleep(0.01)
        await asyncio.gather(*self.read(CALLS), open_files())
        self.assertLess(len(os.listdir("/proc/self/fd")), before + FILES / 2)

    async def test_other_processes_can_still_read(self):
        self.allow_files(1 << 20)
        await asyncio.gather(*self.read(CALLS))
        stat = self.run_vcm("stat")
        self.assertEqual(stat.returncode, 0, stat.stdout)
        self.assertLess(self.slots_in_use(), 64)

    async def test_a_manager_that_is_idle_has_no_reader_slot(self):
        for _ in range(READS_MUCH):
            await asyncio.gather(*self.read(16))
            await self.manager.get_stats()
        for _ in range(300):
            if self.slots_in_use() == 0:
                break
            await asyncio.sleep(0.1)
        self.assertEqual(self.slots_in_use(), 0)
        await self.manager.get_virtual_page(self.pages[0])

    async def test_a_call_that_waits_for_a_thread_is_cancelled_at_once(self):
        began = []

        def work(handle):
            began.append(handle)
            while not handle.cancel.requested:
                time.sleep(0.01)
        tasks = [asyncio.ensure_future(self.manager._run(work))
                 for _ in range(_calls.WORKERS + 1)]
        while len(began) < _calls.WORKERS:
            await asyncio.sleep(0.01)
        tasks[-1].cancel()
        with self.assertRaises(asyncio.CancelledError):
            await tasks[-1]
        self.assertEqual(len(began), _calls.WORKERS)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self.assertEqual(len(set(began)), _calls.WORKERS)
        # None of the flags is left for the next call.
        await asyncio.gather(*self.read(_calls.WORKERS))


if __name__ == "__main__":
    fixture.main()
