"""What people asked for, pins and locks, outlives the store that it was asked of."""

import os
import re
import time
import unittest

from paging import PagingTest

LONG = bool(os.environ.get("VCM_TEST_LONG"))


class Rescue(PagingTest):
    def setUp(self):
        super().setUp()
        self.repos = {name: self.make_repo({f"{name}/f{i}": f"{name} {i}\n" * 300
                                            for i in range(8)}, name=name)
                      for name in ("one", "two", "three")}
        for name in self.repos:
            self.remap(name)
        one = self.page_ids("--scope", "one")
        self.vcm("pin", one[0], check=0)
        self.vcm("pin", one[3], check=0)
        self.vcm("pin", "two", check=0)
        self.vcm("lock", one[1], one[3], "--owner", "agent-7", "--reason", 'why "not"\n',
                 "--ttl", "5h", check=0)
        self.vcm("lock", one[1], "--owner", "agent-8", "--ttl", "1h", check=0)
        self.right = self.wishes()
        self.assertEqual(len([1 for pinned, _ in self.right.values() if pinned]),
                         2 + len(self.page_ids("--scope", "two")))

    def remap(self, name, *args):
        return self.map_row(self.repos[name], "--scope", name, "--flush-token-budget", "700", *args)

    def wishes(self):
        """page id: whether it is pinned, and until when it is locked."""
        return {page["page_id"]: (page["pinned"], page["locked_until"]) for page in self.pages()}

    def assert_wishes(self):
        """Times are stored to the millisecond and told in seconds."""
        found = self.wishes()
        self.assertEqual({page: wish[0] for page, wish in found.items()},
                         {page: wish[0] for page, wish in self.right.items()})
        for page, (_, until) in self.right.items():
            if until is None:
                self.assertIsNone(found[page][1])
            else:
                self.assertIsNotNone(found[page][1], page)
                self.assertLessEqual(abs(found[page][1] - until), 1)
        self.assertFalse(os.path.exists(os.path.join(self.home, "store.pins")))
        self.vcm("verify", check=0)

    def mark(self):
        with open(os.path.join(self.home, "store.damaged"), "w", encoding="utf-8") as file:
            file.write("a test says so\n")

    def flip_frame(self, wanted):
        """Flips a bit in the frame that has the text."""
        with open(self.data_file(), "r+b") as file:
            at = re.search(wanted, file.read()).start()
            file.seek(at)
            byte = file.read(1)
            file.seek(at)
            file.write(bytes([byte[0] ^ 1]))

    def test_pins_and_locks_outlive_a_damaged_page(self):
        self.flip_frame(rb'{"path":"three/f2')
        self.vcm("verify", check=1)
        self.assertEqual(self.remap("three")["status"], "mapped")
        self.assert_wishes()
        owners = self.vcm("unlock", self.page_ids("--scope", "one")[1], "--owner", "agent-8",
                          "--json", check=0).json()
        self.assertEqual(owners["released"], 1)

    def test_the_pin_of_a_scope_is_still_its_own(self):
        self.mark()
        self.remap("one")
        self.assertEqual(self.remap("two")["status"], "already_mapped")
        self.assert_wishes()
        self.vcm("unpin", "two", check=0)
        self.mark()
        self.remap("one")
        self.assertFalse(any(page["pinned"] for page in self.pages("--scope", "two")))

    def test_what_cannot_be_read_costs_the_pins_and_no_more(self):
        size = os.path.getsize(self.data_file())
        for length in (0, 4096, 8192, size // 2, size - 4096):
            with self.subTest(length=length):
                os.truncate(self.data_file(), length)
                self.mark()
                self.remap("one")
                self.assertEqual(set(self.wishes()), set(self.right))
                self.vcm("verify", check=0)
        with open(self.data_file(), "r+b") as file:
            size = os.fstat(file.fileno()).st_size
            file.seek(8192)
            file.write(b"\xa5" * (size - 8192))
        self.mark()
        self.remap("one")
        self.assertEqual(set(self.wishes()), set(self.right))
        self.vcm("verify", check=0)

    def test_a_recovery_that_is_killed_is_ended_by_the_next_map(self):
        for i in range(30 if LONG else 5):
            self.mark()
            run = self.start("map", "--json", self.repos["three"], "--scope", "three")
            time.sleep(0.02 + i * (0.03 if LONG else 0.15))
            run.kill()
            run.communicate()
            self.remap("three")
            self.assert_wishes()

    def test_what_was_pinned_and_is_gone_is_told(self):
        os.rename(self.repos["one"], self.repos["one"] + ".gone")
        self.mark()
        result = self.vcm("map", self.repos["two"], "--scope", "two", "--flush-token-budget", "700",
                          check=0)
        self.assertRegex(result.err, "5 pins or locks of the damaged store could not be set again")
        self.assertTrue(all(page["pinned"] for page in self.pages("--scope", "two")))
        self.assertFalse(os.path.exists(os.path.join(self.home, "store.pins")))

    def test_a_lock_whose_time_is_over_does_not_come_back(self):
        page = self.page_ids("--scope", "three")[0]
        self.vcm("lock", page, "--ttl", "1s", check=0)
        self.mark()
        time.sleep(1.1)
        self.remap("three")
        self.assert_wishes()


if __name__ == "__main__":
    unittest.main()
