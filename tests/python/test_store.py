"""The knowledge base, the store, settings, and types of sources of the caller."""

import asyncio
import os
import threading

import fixture
from fixture import COLONY, vcm, write

WHALES = "# Whales\n\nWhales sing for hours, and others answer.\n"
BEES = "# Bees\n\nBees dance to tell where flowers are.\n"


class Knowledge(fixture.Case):
    async def test_documents_are_taken_in_searched_shown_listed_and_cleared(self):
        path = os.path.join(self.folder, "whales.md")
        write(self.folder, "whales.md", WHALES)
        files = await self.manager.kb_ingest([path], documents={"bees.md": BEES.encode()},
                                             source="hive", profile="field")
        self.assertEqual([file.status for file in files], ["ingested", "ingested"])
        self.assertEqual({file.source for file in files}, {None, "hive"})
        hit, = await self.manager.kb_search("flowers")
        chunk = await self.manager.kb_show(hit.chunk_id)
        self.assertEqual((chunk.text, chunk.seq, chunk.chunks, chunk.source),
                         (hit.text, 1, 1, "hive"))
        listed = await self.manager.kb_list()
        self.assertEqual(len(listed), 2)
        self.assertEqual([document.path for document in await self.manager.kb_list(source="hive")],
                         [hit.path])
        stat = await self.manager.kb_stat()
        self.assertEqual((stat.documents, stat.chunks), (2, 2))
        with self.assertRaisesRegex(ValueError, "either all"):
            await self.manager.kb_clear()
        removed = await self.manager.kb_clear(source="hive")
        self.assertEqual([document.path for document in removed], [hit.path])
        self.assertEqual(len(await self.manager.kb_clear(all=True)), 1)
        self.assertEqual((await self.manager.kb_stat()).documents, 0)

    async def test_a_document_that_cannot_be_read_is_told(self):
        missing = os.path.join(self.folder, "none.md")
        files = await self.manager.kb_ingest([missing], documents={"a.md": b"text\n"})
        self.assertEqual([file.status for file in files], ["failed", "ingested"])
        self.assertIn("none.md", files[0].message or "")


class Store(fixture.Case):
    async def asyncSetUp(self):
        await super().asyncSetUp()
        await self.map()
        self.pages = [page.page_id for page in
                      await self.manager.get_pages_for_scope(COLONY)]

    async def test_what_became_of_every_path(self):
        found = await self.manager.coverage(COLONY)
        self.assertEqual(found.coverage["tracked"], len(found.files))
        self.assertEqual({file.outcome for file in found.files}, {"paged"})
        none = await self.manager.coverage(COLONY, reason="binary")
        self.assertEqual((none.files, none.coverage), ([], found.coverage))

    async def test_pages_are_evicted_unless_they_are_kept(self):
        await self.manager.lock_page(self.pages[0], lock_duration_s=60)
        result = await self.manager.evict(self.pages[:2], target="evicted")
        self.assertEqual([(page.state, page.skipped) for page in result.pages],
                         [("resident", "locked"), ("evicted", None)])
        self.assertEqual((result.pages_evicted, result.pages_skipped), (1, 1))
        rest = await self.manager.evict(scope_id=COLONY)
        self.assertEqual(rest.pages_compressed, len(self.pages) - 2)
        with self.assertRaisesRegex(ValueError, "one of"):
            await self.manager.evict()
        with self.assertRaises(vcm.VcmError) as caught:
            await self.manager.evict(all=True, target="gone")
        self.assertEqual(caught.exception.code, "INVALID_ARGUMENT")

    async def test_pages_are_counted(self):
        self.assertEqual(await self.manager.count_pages(), len(self.pages))
        self.assertEqual(await self.manager.count_pages(COLONY, state="resident"),
                         len(self.pages))
        self.assertEqual(await self.manager.count_pages(pinned=True), 0)
        self.assertEqual(await self.manager.count_pages(path="src/f1.c"), 1)

    async def test_the_store_is_verified_and_collected(self):
        checked = await self.manager.verify(deep=True)
        self.assertEqual((checked.ok, checked.findings), (True, []))
        self.assertEqual(checked.pages_checked, len(self.pages))
        await self.manager.munmap_application_scope(COLONY)
        collected = await self.manager.gc()
        self.assertLessEqual(collected.bytes_after, collected.bytes_before)
        self.assertEqual(collected.clones_dropped, 0)

    async def test_the_store_is_sampled(self):
        samples = [sample async for sample in self.manager.top(interval_s=0.01, count=2)]
        self.assertEqual([sample.faults_per_second is None for sample in samples], [True, False])
        self.assertEqual((samples[0].largest[0].scope_id, samples[0].stats["scopes"]),
                         (COLONY, 1))

    async def test_reads_are_recorded_and_replayed(self):
        recording = self.manager.trace_record(count=3)
        first = asyncio.ensure_future(recording.__anext__())
        while not first.done():
            (await self.manager.get_virtual_page(self.pages[0])).release()
            await asyncio.sleep(0.01)
        found = [first.result()]
        for page in self.pages[1:4]:
            (await self.manager.get_virtual_page(page)).release()
        found += [access async for access in recording]
        self.assertEqual((len(found), found[0].page_id), (3, self.pages[0]))
        trace = os.path.join(self.folder, "trace")
        write(self.folder, "trace", "".join(
            f"{access.ms} {access.page_id} {access.bytes}\n" for access in found))
        replay = await self.manager.trace_replay(trace)
        self.assertEqual(replay.accesses, 3)
        self.assertIn("optimum", {outcome.policy for outcome in replay.policies})

    async def test_settings_are_listed_and_changed(self):
        settings = {setting.key: setting for setting in await self.manager.config_list()}
        some = settings["store.capacity"] if "store.capacity" in settings else None
        key = some.key if some else next(s.key for s in settings.values()
                                         if isinstance(s.value, int) and
                                         not isinstance(s.value, bool))
        before = await self.manager.config_get(key)
        self.assertFalse(before.is_set)
        await self.manager.config_set(key, str(before.value + 1))
        after = await self.manager.config_get(key)
        self.assertEqual((after.value, after.default, after.is_set),
                         (before.value + 1, before.default, True))
        with self.assertRaises(vcm.VcmError):
            await self.manager.config_get("no.such.key")

    async def test_the_machine_is_checked(self):
        findings = await self.manager.doctor()
        self.assertEqual({finding.status for finding in findings} - {"ok", "warning"}, set())


class Tickets:
    """A source that has no files."""

    def __init__(self):
        self.texts = {f"ticket/{i}": f"Ticket {i}: it does not work.\n" for i in range(9)}
        self.rows = []
        self.threads = set()

    def walk(self, row):
        self.rows.append(row)
        for path in [*self.texts, "ticket/gone"]:
            yield path, path.encode()[-32:]

    def read(self, row, path):
        self.threads.add(threading.current_thread())
        if path == "ticket/odd":
            raise ZeroDivisionError("odd")
        return self.texts[path]


class Sources(fixture.Case):
    async def asyncSetUp(self):
        await super().asyncSetUp()
        await self.manager.aclose()
        self.tickets = Tickets()
        self.manager = vcm.VirtualContextManager(self.home, sources={"tickets": self.tickets})

    async def map_tickets(self):
        return await self.manager.mmap_application_scope(
            scope_id="desk:tickets", origin_url=self.repo, source_type="tickets",
            start_dir="src", include_globs=["*"])

    async def test_texts_of_a_source_become_pages(self):
        result = await self.map_tickets()
        self.assertEqual((result.status, result.records), ("mapped", 9), result.message)
        self.assertEqual(result.coverage["failed"], 1)  # the one that it does not have
        self.assertEqual((self.tickets.rows[0].start_dir, self.tickets.rows[0].include_globs,
                          len(self.tickets.rows[0].commit)), ("src", ["*"], 40))
        page = (await self.manager.get_pages_for_scope("desk:tickets"))[0]
        records = await self.manager.get_application_records_in_page(page)
        self.assertIn(records[0].text, self.tickets.texts.values())
        await self.manager.evict(all=True, target="evicted")
        self.assertTrue(await self.manager.request_page_load(page))

    async def test_what_it_raises_is_told(self):
        self.tickets.texts["ticket/odd"] = ""
        result = await self.map_tickets()
        self.assertEqual(result.status, "error")
        self.assertIn("ZeroDivisionError: odd", result.message)

    async def test_what_is_no_source_is_refused(self):
        for wrong in ([], {"a": object()}, {3: self.tickets}):
            with self.assertRaisesRegex(TypeError, "sources"):
                vcm.VirtualContextManager(self.home, sources=wrong)
        with self.assertRaises(vcm.VcmError):  # the name is taken
            vcm.VirtualContextManager(self.home, sources={"git_repo": self.tickets})


if __name__ == "__main__":
    fixture.main()
