"""VirtualContextManager: mapping, pages, faults, locks, the knowledge base."""

import asyncio
import os
import subprocess
import sys

import fixture
from fixture import COLONY, vcm
from vcm import _residency


class Mapping(fixture.Case):
    async def test_coverage_counts_the_outcomes_of_the_library(self):
        table = vcm.reasons()
        outcomes = [entry.outcome for entry in table if entry.reason is None]
        self.assertEqual([entry.reason for entry in table[:len(outcomes)]],
                         [None] * len(outcomes))
        coverage = (await self.map()).coverage
        self.assertEqual(list(coverage), ["tracked", *outcomes])
        self.assertEqual(coverage["tracked"], sum(coverage[name] for name in outcomes))
        self.assertEqual([entry.outcome for entry in table if not entry.left_out], ["paged"])
        missing = next(entry for entry in table if entry.outcome == "lfs_missing")
        self.assertTrue(missing.retried)
        self.assertIn("vcm lfs pull", missing.remedy)
        final = next(entry for entry in table if entry.reason == "no text layer")
        self.assertEqual((final.outcome, final.retried), ("failed", False))

    async def test_a_repo_map_becomes_one_scope_a_row(self):
        results = await self.manager.materialize_repo_map(
            origin_url=self.repo, branch="main", commit="HEAD", base_scope_id=COLONY,
            mmap_config=vcm.MmapConfig(flush_threshold=8, flush_token_budget=2048),
            enabled_sources=None)
        self.assertEqual([(r.status, r.scope_id) for r in results],
                         [("mapped", COLONY + ":code"), ("mapped", COLONY + ":notes")])
        scopes = await self.manager.get_all_mapped_scopes()
        self.assertEqual(scopes[0]["config"].flush_threshold, 8)
        self.assertEqual(scopes[0]["page_count"], results[0].pages)

    async def test_enabled_sources_are_all_some_or_none(self):
        async def enabled(names):
            results = await self.manager.materialize_repo_map(
                origin_url=self.repo, base_scope_id="s", enabled_sources=names)
            return [r.name for r in results]
        self.assertEqual(await enabled([]), [])
        self.assertEqual(await enabled({"notes"}), ["notes"])
        self.assertEqual(await enabled(None), ["code", "notes"])
        with self.assertRaisesRegex(vcm.VcmError, "nothing_like_it"):
            await enabled(["nothing_like_it"])

    async def test_a_scope_goes_through_every_status(self):
        self.assertFalse(await self.manager.is_application_scope_mapped(COLONY))
        self.assertEqual((await self.map()).status, "mapped")
        self.assertTrue(await self.manager.is_application_scope_mapped(COLONY))
        self.assertEqual((await self.map(commit="HEAD")).status, "already_mapped")
        fixture.write(self.repo, "src/new.c", "int x;\n")
        fixture.commit(self.repo)
        self.assertEqual((await self.map()).status, "remapped")
        failed = await self.map(start_dir="nowhere")
        self.assertEqual((failed.status, failed.code), ("error", "NOT_FOUND"))
        self.assertIn("nowhere", failed.message)
        self.assertEqual((await self.manager.munmap_application_scope(COLONY)).status, "unmapped")
        self.assertEqual((await self.manager.munmap_application_scope(COLONY)).status,
                         "not_mapped")
        self.assertIsNone(await self.manager.get_application_scope_mapping_status(COLONY))

    async def test_what_another_process_maps_is_seen_at_once(self):
        self.assertEqual(await self.manager.get_all_mapped_scopes(), [])
        script = ("import asyncio, sys; sys.path.insert(0, sys.argv[1]); import vcm\n"
                  "async def main():\n"
                  "    async with vcm.VirtualContextManager(sys.argv[2]) as m:\n"
                  "        await m.mmap_application_scope(scope_id='s', origin_url=sys.argv[3])\n"
                  "asyncio.run(main())\n")
        command = [sys.executable, "-c", script, os.path.dirname(os.path.dirname(vcm.__file__)),
                   self.home, self.repo]
        subprocess.run(command, check=True, env=fixture.INTERPRETER)
        before = {p.page_id for p in await self.manager.get_pages_for_scope("s")}
        fixture.write(self.repo, "src/f0.c", "int changed;\n")
        fixture.commit(self.repo)
        subprocess.run(command, check=True, env=fixture.INTERPRETER)
        after = {p.page_id for p in await self.manager.get_pages_for_scope("s")}
        self.assertNotEqual(before, after)
        for page in after:
            (await self.manager.get_virtual_page(page)).release()


class Watching(fixture.Case):
    async def test_page_events_are_yielded_until_the_watch_is_closed(self):
        watch = self.manager.watch(origin_url=self.repo, base_scope_id="a:b", poll_s=0.2)
        first = asyncio.ensure_future(watch.__anext__())
        while not await self.manager.is_application_scope_mapped("a:b:notes"):
            await asyncio.sleep(0.02)
        fixture.write(self.repo, "notes.txt", "another note\n")
        fixture.commit(self.repo)
        event = await asyncio.wait_for(first, 60)
        self.assertEqual((event.kind, event.scope_id, event.paths),
                         ("page_replaced", "a:b:notes", ["notes.txt"]))
        self.assertEqual(len(event.related_page_ids), 1)
        page = await self.manager.get_virtual_page(event.page_id)
        self.assertIn(b"another note", bytes(page.text))
        await watch.aclose()

    async def test_what_cannot_be_watched_fails(self):
        with self.assertRaises(vcm.VcmError):
            async for _ in self.manager.watch(origin_url=self.folder):
                pass


class Pages(fixture.Case):
    async def test_a_page_has_the_fields_of_colony(self):
        result = await self.map()
        pages = await self.manager.get_pages_for_scope(COLONY)
        self.assertEqual(len(pages), result.pages)
        self.assertEqual(sum(page.size for page in pages), result.tokens)
        page = await self.manager.get_virtual_page(pages[1].page_id)
        self.assertEqual(page.scope_id, COLONY)
        self.assertIsNone(page.group_id)
        self.assertEqual(page.size, pages[1].size)
        self.assertEqual(page.metadata, pages[1].metadata)
        self.assertTrue(page.metadata["files"])
        self.assertEqual(bytes(page.text), bytes(pages[1].text))

    async def test_text_is_a_view_until_it_is_released(self):
        await self.map()
        page = (await self.manager.get_pages_for_scope(COLONY))[0]
        text = page.text
        self.assertIsInstance(text, memoryview)
        self.assertTrue(text.readonly)
        slice_of_it = text[:8]
        page.release()
        with self.assertRaises(ValueError):
            bytes(text)
        with self.assertRaises(ValueError):
            page.text  # pylint: disable=pointless-statement
        self.assertEqual(bytes(slice_of_it), b'{"path":')

    async def test_there_may_be_more_pages_open_than_views(self):
        await self.map(config=vcm.MmapConfig(flush_threshold=1))
        pages = await self.manager.get_pages_for_scope(COLONY)
        held = [await self.manager.get_virtual_page(page.page_id)
                for page in pages for _ in range(1 + 1100 // len(pages))]
        self.assertGreater(len(held), 1024)
        self.assertEqual(bytes(held[0].text), bytes((await self.manager.get_virtual_page(
            held[0].page_id)).text))

    async def test_text_outlives_the_manager(self):
        await self.map()
        page = (await self.manager.get_pages_for_scope(COLONY))[0]
        text = bytes(page.text)
        await self.manager.aclose()
        self.assertEqual(bytes(page.text), text)
        page.release()

    async def test_records_of_a_page_make_up_its_files(self):
        await self.map(include_globs=["f1.c"])
        page, = await self.manager.get_pages_for_scope(COLONY)
        record, = await self.manager.get_application_records_in_page(page.page_id)
        with open(os.path.join(self.repo, "src", "f1.c"), encoding="utf-8") as file:
            self.assertEqual(record.text, file.read())
        self.assertEqual((record.path, record.start_line, record.parts), ("src/f1.c", 1, 1))

    async def test_a_page_is_rendered_for_a_model(self):
        await self.map(include_globs=["f1.c"])
        await self.manager.mmap_application_scope(scope_id="all", origin_url=self.repo,
                                                  start_dir="src", include_globs=["f1.c"])
        page, = await self.manager.get_pages_for_scope(COLONY)
        with open(os.path.join(self.repo, "src", "f1.c"), encoding="utf-8") as file:
            text = file.read()
        lines = text.splitlines(keepends=True)
        width = len(str(len(lines)))
        self.assertEqual(await self.manager.render_page(page),
                         f"======== src/f1.c (lines 1-{len(lines)})\n{text}========\n")
        numbered = "".join(f"{i + 1:{width}}\t{line}" for i, line in enumerate(lines))
        self.assertEqual(await self.manager.render_page(page.page_id, format="markdown",
                                                        lines=True),
                         f"## `src/f1.c` (lines 1-{len(lines)})\n\n```c\n{numbered}```\n\n")
        for scope in (COLONY, "all"):
            self.assertIn(f' scope="{scope}" ', await self.manager.render_page(
                page, format="xml", scope_id=scope))
        with self.assertRaisesRegex(vcm.VcmError, "text, markdown or xml, not 'html'"):
            await self.manager.render_page(page, format="html")

    async def test_the_pages_of_a_record_are_found(self):
        await self.map(config=vcm.MmapConfig(flush_threshold=1))
        await self.manager.mmap_application_scope(scope_id="all", origin_url=self.repo)
        page = (await self.manager.get_pages_for_scope(COLONY))[3]
        record, = await self.manager.get_application_records_in_page(page)
        found = await self.manager.get_pages_for_record(record.record_id)
        quick = await self.manager.get_pages_for_record(record.record_id, path=record.path)
        self.assertEqual([p.page_id for p in found], [p.page_id for p in quick])
        self.assertEqual({p.scope_id for p in found}, {COLONY, "all"})
        for other in found:
            self.assertIn(record, await self.manager.get_application_records_in_page(other))
        one, = await self.manager.get_pages_for_record(record.record_id, scope_id=COLONY)
        self.assertEqual(one.page_id, page.page_id)
        with self.assertRaises(vcm.VcmError) as caught:
            await self.manager.get_pages_for_record("0" * 40)
        self.assertEqual(caught.exception.code, "NOT_FOUND")

    async def test_stored_pages_are_listed_in_slices(self):
        await self.map(config=vcm.MmapConfig(flush_threshold=1))
        everything = await self.manager.list_stored_pages()
        self.assertEqual(await self.manager.list_stored_pages(limit=3, offset=2), everything[2:5])


class Residency(fixture.Case):
    async def asyncSetUp(self):
        await super().asyncSetUp()
        await self.map()
        self.pages = [p.page_id for p in await self.manager.get_pages_for_scope(COLONY)]

    async def test_pages_are_faulted_one_or_many(self):
        self.assertTrue(await self.manager.request_page_load(self.pages[0]))
        fault = await self.manager.issue_page_fault(self.pages, priority=3)
        self.assertTrue(await self.manager.wait_for_pages(fault))
        with self.assertRaisesRegex(vcm.VcmError, fault):
            await self.manager.wait_for_pages(fault)

    async def test_a_lock_is_taken_extended_and_given_back(self):
        page = self.pages[0]
        self.assertIsNone(await self.manager.get_page_lock_info(page))
        self.assertFalse(await self.manager.extend_page_lock(page, additional_duration_s=5))
        lock = await self.manager.lock_page(page, locked_by="agent", lock_duration_s=60,
                                            reason="reads it")
        self.assertEqual((lock.page_id, lock.locked_by, lock.reason), (page, "agent", "reads it"))
        self.assertTrue(await self.manager.extend_page_lock(page, locked_by="agent",
                                                            additional_duration_s=60))
        longer = await self.manager.get_page_lock_info(page)
        self.assertGreater(longer.lock_expires_at, lock.lock_expires_at + 50)
        self.assertEqual((await self.manager.get_stats())["pages_locked"], 1)
        self.assertFalse(await self.manager.unlock_page(page, locked_by="somebody else"))
        self.assertTrue(await self.manager.unlock_page(page, locked_by="agent"))
        self.assertIsNone(await self.manager.get_page_lock_info(page))

    async def test_a_hit_needs_no_thread_and_no_turn_of_the_loop(self):
        self.manager._threads.shutdown()
        read = self.manager.get_virtual_page(self.pages[0])
        with self.assertRaises(StopIteration) as done:
            read.send(None)
        self.assertEqual(done.exception.value.text[0], ord("{"))

    async def test_pages_are_pinned_and_unpinned(self):
        page = self.pages[0]
        self.assertTrue(await self.manager.pin_page(page))
        self.assertFalse(await self.manager.pin_page(page))
        self.assertEqual((await self.manager.get_stats())["pages_pinned"], 1)
        self.assertTrue(await self.manager.unpin_page(await self.manager.get_virtual_page(page)))
        self.assertFalse(await self.manager.unpin_page(page))
        self.assertEqual((await self.manager.get_stats())["pages_pinned"], 0)
        for name in (page[:8], "f" * 40):
            with self.assertRaises(vcm.VcmError) as caught:
                await self.manager.pin_page(name)
            self.assertEqual(caught.exception.code, "NOT_FOUND")

    async def test_scopes_are_pinned_and_unpinned(self):
        self.assertTrue(await self.manager.pin_scope(COLONY))
        self.assertFalse(await self.manager.pin_scope(COLONY))
        self.assertEqual((await self.manager.get_stats())["pages_pinned"], len(self.pages))
        status = await self.manager.get_application_scope_mapping_status(COLONY)
        self.assertTrue(status["config"].pinned)
        self.assertTrue(await self.manager.unpin_scope(COLONY))
        self.assertEqual((await self.manager.get_stats())["pages_pinned"], 0)
        with self.assertRaises(vcm.VcmError) as caught:
            await self.manager.pin_scope(self.pages[0])
        self.assertEqual(caught.exception.code, "NOT_FOUND")

    async def test_faults_that_nobody_waits_for_are_forgotten(self):
        kept, _residency.FAULTS_KEPT = _residency.FAULTS_KEPT, 3
        self.addCleanup(setattr, _residency, "FAULTS_KEPT", kept)
        for _ in range(9):
            await self.manager.request_page_load(self.pages[0])
            last = await self.manager.issue_page_fault(self.pages[0])
        self.assertTrue(await self.manager.wait_for_pages(last))
        await self.manager.issue_page_fault(self.pages[0])
        self.assertLessEqual(len(self.manager._faults), 4)


class Knowledge(fixture.Case):
    async def test_documents_are_found(self):
        fixture.write(self.folder, "whales.md", "# Whales\n\nThe blue whale is the largest.\n")
        files = await self.manager.ingest([os.path.join(self.folder, "whales.md")],
                                          documents={"ants.txt": b"The ant is small.\n"})
        self.assertEqual([f["status"] for f in files], ["ingested", "ingested"])
        hit = (await self.manager.search("whale"))[0]
        self.assertIn("largest", hit.text)
        self.assertEqual(hit.section, "Whales")


class Missing(fixture.Case):
    async def test_what_is_not_there_is_not_found(self):
        await self.map()
        for name in ("f" * 40, "not hexadecimal"):
            with self.assertRaises(vcm.VcmError) as caught:
                await self.manager.get_virtual_page(name)
            self.assertEqual(caught.exception.code, "NOT_FOUND")
        with self.assertRaises(vcm.VcmError) as caught:
            await self.manager.get_pages_for_scope("nothing")
        self.assertEqual(caught.exception.code, "NOT_FOUND")

    async def test_a_view_survives_a_forked_child(self):
        await self.map()
        held = (await self.manager.get_pages_for_scope(COLONY))[0]
        text = bytes(held.text)
        child = os.fork()
        if child == 0:
            status = 1
            try:
                self.manager._hit(held.page_id)
            except vcm.VcmError as error:
                status = 0 if "before a fork" in error.message else 2
            finally:
                held.release()
                os._exit(status)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)
        self.assertEqual(bytes(held.text), text)


class Cancelling(fixture.Case):
    async def test_cancelling_a_task_cancels_the_work(self):
        for i in range(3000):
            fixture.write(self.repo, f"many/{i}.c", f"int a{i};\n" * 40)
        fixture.commit(self.repo)
        task = asyncio.ensure_future(self.map(jobs=1))
        await asyncio.sleep(0)
        task.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await task
        self.assertFalse(await self.manager.is_application_scope_mapped(COLONY))
        self.assertEqual((await self.map()).status, "mapped")

    async def test_a_cancelled_watch_ends_its_work(self):
        async def follow():
            async for _ in self.manager.watch(origin_url=self.repo, base_scope_id="w"):
                pass
        task = asyncio.ensure_future(follow())
        while not await self.manager.is_application_scope_mapped("w:notes"):
            await asyncio.sleep(0.02)
        task.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await task
        self.assertEqual(self.manager._streams, set())

    async def test_the_interpreter_goes_on_while_the_library_waits(self):
        """The library waits for a lock that only this thread can give back. Were the
        interpreter's lock kept, it would wait in vain, and fail."""
        await self.map()
        held = fixture.WriterLock(self.home)
        task = asyncio.ensure_future(self.map(start_dir="src"))
        await asyncio.sleep(0.2)
        self.assertFalse(task.done())
        held.release()
        self.assertEqual((await task).status, "remapped")

    async def test_the_loop_goes_on_while_work_is_done(self):
        ticks = 0
        task = asyncio.ensure_future(self.map())
        while not task.done():
            ticks += 1
            await asyncio.sleep(0)
        self.assertGreater(ticks, 1)
        self.assertEqual(task.result().status, "mapped")


if __name__ == "__main__":
    fixture.main()
