"""What the library tells while it works: log lines and progress."""

import asyncio
import contextlib
import io
import threading

import fixture
from fixture import COLONY, vcm


class Log(fixture.Case):
    async def materialize(self, **options):
        """Maps with a map in the working tree that is not the committed one, which is told."""
        fixture.write(self.repo, ".colony/repo_map.yaml", fixture.MAP + "# changed\n")
        async with vcm.VirtualContextManager(self.home, **options) as manager:
            return await manager.materialize_repo_map(origin_url=self.repo, base_scope_id="s")

    async def test_lines_are_handed_to_a_function(self):
        seen = []
        await self.materialize(log=lambda level, line: seen.append((level, line)))
        self.assertEqual({level for level, _ in seen}, {"warning"})
        self.assertTrue([line for _, line in seen if "differs" in line])

    async def test_a_level_leaves_lines_out(self):
        seen = []
        await self.materialize(log=lambda *line: seen.append(line), log_level="error")
        self.assertEqual(seen, [])

    async def test_a_function_that_fails_does_no_harm(self):
        def fail(_level, _line):
            raise RuntimeError("no paper")
        with contextlib.redirect_stderr(io.StringIO()) as said:
            results = await self.materialize(log=fail)
        self.assertEqual([r.status for r in results], ["mapped", "mapped"])
        self.assertIn("no paper", said.getvalue())

    async def test_what_is_no_function_or_no_level_is_refused(self):
        with self.assertRaisesRegex(TypeError, "log"):
            vcm.VirtualContextManager(self.home, log="stderr")
        with self.assertRaisesRegex(ValueError, "log_level"):
            vcm.VirtualContextManager(self.home, log=print, log_level="loud")


class Progress(fixture.Case):
    async def test_the_loop_is_told_how_far_a_mapping_is(self):
        seen, threads = [], set()

        def take(progress):
            seen.append(progress)
            threads.add(threading.get_ident())
        result = await self.map(progress=take)
        self.assertIsInstance(seen[0], vcm.MmapProgress)
        self.assertEqual([p.files for p in seen], sorted(p.files for p in seen))
        self.assertEqual(seen[-1].files, result.coverage["tracked"])
        self.assertLessEqual(seen[-1].pages, result.pages)
        self.assertEqual(threads, {threading.get_ident()})

    async def test_the_rows_of_a_map_are_told_together(self):
        seen = []
        results = await self.manager.materialize_repo_map(
            origin_url=self.repo, base_scope_id=COLONY, progress=seen.append)
        self.assertEqual(seen[-1].files, sum(result.coverage["tracked"] for result in results))

    async def test_a_function_that_fails_costs_nothing_but_a_report(self):
        reports = []

        def fail(_progress):
            raise RuntimeError("no paper")
        asyncio.get_running_loop().set_exception_handler(
            lambda _loop, report: reports.append(str(report["exception"])))
        self.assertEqual((await self.map(progress=fail)).status, "mapped")
        self.assertEqual(set(reports), {"no paper"})


if __name__ == "__main__":
    fixture.main()
