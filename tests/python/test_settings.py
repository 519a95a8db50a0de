"""A manager keeps the settings that others change while it is open."""

from ctypes import byref

import fixture
from fixture import COLONY, vcm
from vcm import _calls, _native


class Settings(fixture.Case):
    def set(self, key, value):
        """What 'vcm config set' does in a process of its own."""
        handle = _calls.Handle(self.home.encode(), None, [])
        try:
            handle.check(_native.lib.vcm_config_set(handle.pointer, key.encode(),
                                                    str(value).encode(), byref(handle.error)))
        finally:
            handle.close()

    async def stat(self, name):
        return (await self.manager.get_stats())[name]

    async def map_pages(self):
        await self.map(config=vcm.MmapConfig(flush_threshold=4))
        return [page.page_id for page in await self.manager.get_pages_for_scope(COLONY)]

    async def test_pages_come_in_within_a_smaller_capacity(self):
        pages = await self.map_pages()
        capacity = await self.stat("bytes_resident") // 3
        self.set("cache.capacity", capacity)
        self.assertEqual(await self.stat("bytes_capacity"), capacity)
        for _ in range(2):
            fault = await self.manager.issue_page_fault(pages)
            # Three times the capacity was asked for: some are left out, and that is told.
            self.assertFalse(await self.manager.wait_for_pages(fault))
            errors = await self.manager.get_fault_errors(fault)
            self.assertEqual({error.code for error in errors.values()}, {"STORE_FULL"})
            self.assertLess(len(errors), len(pages))
            for page in pages:
                await self.manager.request_page_load(page)
                await self.manager.get_virtual_page(page)
            self.assertGreater(await self.stat("bytes_resident"), 0)
            self.assertLessEqual(await self.stat("bytes_resident"), capacity)

    async def test_what_is_pinned_or_locked_keeps_a_smaller_capacity(self):
        pages = await self.map_pages()
        self.assertTrue(await self.manager.pin_page(pages[0]))
        page = await self.manager.get_virtual_page(pages[0])
        self.set("cache.capacity", len(page.text) + 10)
        for attempt in (self.manager.pin_page(pages[1]), self.manager.pin_scope(COLONY),
                        self.manager.lock_page(pages[1], lock_duration_s=60)):
            with self.assertRaises(vcm.VcmError) as caught:
                await attempt
            self.assertEqual(caught.exception.code, "STORE_FULL")
        self.assertEqual((await self.stat("pages_pinned"), await self.stat("pages_locked")), (1, 0))
        self.set("cache.capacity", 1 << 30)
        self.assertTrue(await self.manager.pin_scope(COLONY))

    async def test_a_scope_is_mapped_with_the_tokenizer_that_is_set(self):
        await self.map()
        await self.manager.munmap_application_scope(COLONY)
        self.assertEqual(await self.stat("tokenizer"), "o200k_base")
        self.set("tokenizer", "approx4")
        self.assertEqual((await self.map()).status, "mapped")
        self.assertEqual(await self.stat("tokenizer"), "approx4")
        self.assertEqual((await self.map()).status, "already_mapped")


if __name__ == "__main__":
    fixture.main()
