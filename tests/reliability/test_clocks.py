"""Clocks that go forward and back: time alone is never damage."""

import os
import unittest

from paging import PagingTest

HOUR = 3600


class Clocks(PagingTest):
    def setUp(self):
        super().setUp()
        self.marker = os.path.join(self.home, "store.damaged")
        self.repo = self.make_repo({f"f{i}": f"{i}\n" * 900 for i in range(8)})
        self.map(self.repo, "--scope", "s", "--flush-token-budget", "2000")
        self.ids = self.page_ids()

    def at(self, shift, *args, check=0):
        """Runs vcm with a clock that is `shift` seconds ahead."""
        env = {"LD_PRELOAD": os.environ["VCM_TEST_CLOCK"], "VCM_TEST_CLOCK_SHIFT": str(shift),
               "ASAN_OPTIONS": self.env["ASAN_OPTIONS"] + ":verify_asan_link_order=0"}
        return self.vcm(*args, "--json", check=check, env=env).json()

    def assert_sound(self, shift):
        document = self.at(shift, "verify", "--deep")
        self.assertEqual(document["findings"], [])
        self.assertFalse(os.path.exists(self.marker))

    def states(self):
        return {page["page_id"]: page["state"] for page in self.pages()}

    def test_the_clock_of_the_program_is_shifted(self):
        until = self.at(10 * HOUR, "lock", self.ids[0], "--ttl", "1h")["pages"][0]["locked_until"]
        self.assertGreater(until, os.stat(self.home).st_mtime + 10 * HOUR)

    def test_a_lock_that_ran_out_before_the_clock_went_back_is_no_damage(self):
        for to in ("compressed", "evicted"):
            with self.subTest(to=to):
                self.at(0, "fault", self.ids[0])
                self.at(0, "lock", self.ids[0], "--ttl", "1h")
                self.at(2 * HOUR, "evict", self.ids[0], "--to", to)
                self.assertEqual(self.states()[self.ids[0]], to)
                self.assert_sound(0)
        self.assertEqual(self.map_row(self.repo, "--scope", "s", "--flush-token-budget", "2000")
                         ["status"], "already_mapped")
        self.assertEqual(self.page_ids(), self.ids)

    def test_a_page_that_was_evicted_for_room_lost_its_lock_for_good(self):
        self.at(0, "lock", self.ids[0], "--ttl", "1h")
        self.at(2 * HOUR, "config", "set", "cache.capacity", "8000")
        self.assertNotEqual(self.states()[self.ids[0]], "resident")
        self.assert_sound(0)
        self.assertEqual(self.at(0, "stat")["pages"]["locked"], 0)

    def test_a_lock_that_has_not_run_out_holds_again_when_the_clock_went_back(self):
        self.at(0, "lock", self.ids[0], "--ttl", "1h")
        self.assertEqual(self.at(2 * HOUR, "stat")["pages"]["locked"], 0)
        self.assert_sound(2 * HOUR)
        self.assertEqual(self.at(0, "stat")["pages"]["locked"], 1)
        self.at(0, "evict", self.ids[0], check=3)
        self.assert_sound(0)

    def test_everything_works_with_clocks_that_jump(self):
        for shift in (0, 50 * 365 * 24 * HOUR, -30 * 24 * HOUR, HOUR):
            self.commit(self.repo, {"f0": f"{shift}\n"})
            self.at(shift, "map", self.repo, "--scope", "s", "--flush-token-budget", "2000")
            pages = self.page_ids()
            self.at(shift, "lock", *pages[:2], "--ttl", "10m")
            self.at(shift + HOUR, "evict", *pages)
            self.at(shift, "pin", pages[0])
            self.at(shift, "gc")
            self.at(shift, "unpin", pages[0])
            self.assert_sound(shift)
            self.assert_sound(0)


class Marker(PagingTest):
    def setUp(self):
        super().setUp()
        self.marker = os.path.join(self.home, "store.damaged")
        self.repo = self.make_repo({"a": "1\n"})
        self.map(self.repo)
        with open(self.marker, "w", encoding="utf-8") as file:
            file.write("a suspicion\n")

    def test_a_clean_verify_lifts_the_marker(self):
        self.vcm("verify", check=0)
        self.assertFalse(os.path.exists(self.marker))
        self.assertEqual(self.map_row(self.repo)["status"], "already_mapped")

    def test_a_verify_that_finds_damage_leaves_it(self):
        data = os.path.join(self.home, "store/data.mdb")
        os.truncate(data, os.path.getsize(data) - 4096)
        self.vcm("verify", check=1)
        self.assertTrue(os.path.exists(self.marker))


if __name__ == "__main__":
    unittest.main()
