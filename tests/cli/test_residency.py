"""Pages come and go at a person's word: fault, lock, unlock, pin, unpin, evict."""

import os
import random
import time
import unittest

from harness import WriterLock
from paging import PagingTest

SEED = 20261117


class ResidencyTest(PagingTest):
    def setUp(self):
        super().setUp()
        chosen = random.Random(SEED)
        self.repo = self.make_repo({f"d/f{i}": f"file {i} {chosen.random()}\n" * 300
                                    for i in range(12)})
        self.map_row(self.repo, "--scope", "tool", "--flush-token-budget", "2000")
        self.ids = [page["page_id"] for page in self.pages()]
        self.assertGreater(len(self.ids), 5)

    def pages(self):
        return self.vcm("pages", "--json", check=0).json()["pages"]

    def states(self):
        return {page["page_id"]: page["state"] for page in self.pages()}

    def stat(self):
        return self.vcm("stat", "--json", check=0).json()

    def run_json(self, *args, check=0):
        return self.vcm(*args, "--json", check=check).json()

    def set_capacity(self, pages, check=0):
        size = sum(page["bytes"] for page in self.pages()[:pages])
        return self.run_json("config", "set", "cache.capacity", str(size), check=check)

    def assert_error(self, result, code, *words):
        error = result["error"]
        self.assertEqual(error["code"], code, result)
        for word in words:
            self.assertIn(word, error["message"])


class Evict(ResidencyTest):
    def test_named_pages_are_compressed_and_come_back_as_they_were(self):
        before = self.vcm("page", self.ids[0], "--json", check=0).out
        document = self.run_json("evict", *self.ids[:2])
        self.assertEqual(document, {
            "pages": [{"page_id": page, "state": "compressed", "skipped": None}
                      for page in self.ids[:2]],
            "pages_compressed": 2, "pages_evicted": 0, "pages_skipped": 0})
        self.assertEqual(self.states()[self.ids[1]], "compressed")
        self.assertEqual(self.vcm("page", self.ids[0], "--json", check=0).out, before)

    def test_everything_can_be_evicted_and_is_rebuilt_bit_for_bit(self):
        before = [self.vcm("page", page, "--json", check=0).out for page in self.ids]
        document = self.run_json("evict", "--all", "--to", "evicted")
        self.assertEqual(document["pages_evicted"], len(self.ids))
        self.assertEqual(document["pages"], [])
        self.assertEqual(set(self.states().values()), {"evicted"})
        self.assertEqual(self.stat()["bytes"]["resident"], 0)
        self.assertEqual([self.vcm("page", page, "--json", check=0).out for page in self.ids],
                         before)
        self.run_json("verify")

    def test_a_base_stands_for_all_its_scopes(self):
        other = self.make_repo({"x": "x\n"}, name="other")
        self.map_row(other, "--scope", "another")
        self.assertEqual(self.run_json("evict", "--scope", "tool")["pages_compressed"],
                         len(self.ids))
        left = {page["scope_id"]: page["state"] for page in self.pages()}
        self.assertEqual(left, {"another": "resident", "tool": "compressed"})

    def test_pinned_and_locked_pages_are_skipped_and_told(self):
        self.run_json("pin", self.ids[0])
        self.run_json("lock", self.ids[1], "--ttl", "1h")
        document = self.run_json("evict", *self.ids[:3], check=3)
        self.assertEqual([page["skipped"] for page in document["pages"]], ["pinned", "locked", None])
        self.assertEqual(document["pages_skipped"], 2)
        document = self.run_json("evict", "--all")
        self.assertEqual([(page["page_id"], page["skipped"]) for page in document["pages"]],
                         [(self.ids[0], "pinned"), (self.ids[1], "locked")])
        text = self.vcm("evict", self.ids[0], check=3).out
        self.assertIn("skipped: it is pinned", text)

    def test_names_are_needed_and_only_of_one_kind(self):
        for words in ([], ["--all", "--scope", "tool"], ["--all", self.ids[0]]):
            self.assert_error(self.run_json("evict", *words, check=2), "INVALID_ARGUMENT", "--all")
        self.assert_error(self.run_json("evict", "--all", "--to", "resident", check=2),
                          "INVALID_ARGUMENT", "compressed")
        self.assert_error(self.run_json("evict", "--scope", "nobody", check=1), "NOT_FOUND")

    def test_a_missing_home_has_nothing_to_evict_and_is_not_made(self):
        nowhere = os.path.join(self.tmp, "nowhere")
        document = self.run_json("evict", "--all", "--home", nowhere)
        self.assertEqual(document["pages"], [])
        self.assertFalse(os.path.exists(nowhere))


class Fault(ResidencyTest):
    def test_each_kind_of_fault_is_told_and_counted_once(self):
        self.run_json("evict", self.ids[1])
        self.run_json("evict", self.ids[2], "--to", "evicted")
        before = self.stat()["faults"]
        document = self.run_json("fault", *self.ids[:3], "--priority", "5")
        self.assertEqual([(page["fault"], page["state"], page["error"])
                          for page in document["pages"]],
                         [("hit", "resident", None), ("minor", "resident", None),
                          ("major", "resident", None)])
        after = self.stat()["faults"]
        self.assertEqual({key: after[key] - before[key] for key in after},
                         {"hit": 1, "minor": 1, "major": 1})

    def test_a_fault_can_lock(self):
        document = self.run_json("fault", self.ids[0], "--lock", "10m")
        self.assertGreater(document["pages"][0]["locked_until"], time.time() + 500)
        self.assertEqual(self.stat()["pages"]["locked"], 1)

    def test_content_that_is_gone_is_told_and_the_rest_is_done(self):
        self.run_json("evict", self.ids[0])
        self.run_json("evict", self.ids[1], "--to", "evicted")
        os.rename(self.repo, self.repo + ".gone")
        document = self.run_json("fault", self.ids[0], self.ids[1], check=3)
        self.assertIsNone(document["pages"][0]["error"])
        self.assertEqual(document["pages"][1]["state"], "evicted")
        self.assertIn(document["pages"][1]["error"]["code"], ("NOT_FOUND", "IO_ERROR"))
        self.run_json("fault", self.ids[1], check=1)
        os.rename(self.repo + ".gone", self.repo)
        self.run_json("fault", self.ids[1])

    def test_names_that_are_no_page_fail(self):
        self.assert_error(self.run_json("fault", "0" * 40, check=1), "NOT_FOUND")
        self.assert_error(self.run_json("fault", self.ids[0][:5], check=2), "INVALID_ARGUMENT")
        self.vcm("fault", self.ids[0][:12], check=0)
        self.vcm("fault", check=2)
        self.assert_error(self.run_json("fault", self.ids[0], "--lock", "soon", check=2),
                          "INVALID_ARGUMENT", "--lock", "soon")

    def test_while_another_writes_pages_are_counted_and_stay_and_that_is_told(self):
        self.run_json("evict", self.ids[0])
        lock = WriterLock(self.home)
        self.addCleanup(lock.release)
        for pages, status in ([self.ids[:1], 1], [self.ids[:2], 3]):
            page = self.run_json("fault", *pages, check=status)["pages"][0]
            self.assertEqual((page["fault"], page["state"], page["error"]["code"]),
                             ("minor", "compressed", "STORE_BUSY"))
            self.assertEqual(self.states()[self.ids[0]], "compressed")
        self.vcm("page", self.ids[0], check=0)
        self.assertEqual(self.stat()["faults"]["minor"], 3)
        self.assertEqual(self.states()[self.ids[0]], "compressed")

    def test_a_fault_that_locks_waits_for_the_writer_as_a_lock_does(self):
        self.run_json("evict", self.ids[0])
        lock = WriterLock(self.home)
        fault = self.start("fault", self.ids[0], "--lock", "10m", "--json")
        while self.stat()["faults"]["minor"] == 0:
            time.sleep(0.05)
        time.sleep(0.1)  # by now it did without the page coming in
        lock.release()
        out, _ = fault.communicate()
        self.assertEqual(fault.returncode, 0, out)
        self.assertEqual(self.states()[self.ids[0]], "resident")

    def test_pages_that_find_no_room_are_told(self):
        self.run_json("evict", "--all", "--to", "evicted")
        self.set_capacity(3)
        document = self.run_json("fault", *self.ids[:4], check=3)
        self.assertEqual([page["state"] for page in document["pages"]],
                         ["resident"] * 3 + ["evicted"])
        self.assertEqual([page["error"] and page["error"]["code"] for page in document["pages"]],
                         [None] * 3 + ["STORE_FULL"])
        self.run_json("fault", *self.ids[:3])


class Locks(ResidencyTest):
    def test_a_lock_has_an_end_and_can_be_extended_but_not_shortened(self):
        first = self.run_json("lock", self.ids[0], "--ttl", "1h")["pages"][0]["locked_until"]
        self.assertAlmostEqual(first, time.time() + 3600, delta=60)
        again = self.run_json("lock", self.ids[0], "--ttl", "1m")["pages"][0]["locked_until"]
        self.assertEqual(again, first)
        longer = self.run_json("lock", self.ids[0], "--ttl", "2h")["pages"][0]["locked_until"]
        self.assertGreater(longer, first)
        [page] = [page for page in self.pages() if page["page_id"] == self.ids[0]]
        self.assertEqual(page["locked_until"], longer)

    def test_a_lock_past_its_time_counts_for_nothing(self):
        until = self.run_json("lock", self.ids[0], "--ttl", "1ms")["pages"][0]["locked_until"]
        while time.time() <= until:
            time.sleep(0.1)
        self.assertEqual(self.stat()["pages"]["locked"], 0)
        self.run_json("evict", self.ids[0])
        self.assertEqual(self.states()[self.ids[0]], "compressed")

    def test_each_owner_has_a_lock_of_its_own(self):
        self.run_json("lock", self.ids[0], "--ttl", "1h", "--owner", "a", "--reason", "a reason")
        self.run_json("lock", self.ids[0], "--ttl", "2h", "--owner", "b")
        self.assertEqual(self.run_json("unlock", self.ids[0])["released"], 0)
        document = self.run_json("unlock", self.ids[0], "--owner", "b")
        self.assertEqual(document["released"], 1)
        self.assertIsNotNone(document["pages"][0]["locked_until"])
        self.run_json("lock", self.ids[0], "--ttl", "2h", "--owner", "c")
        document = self.run_json("unlock", self.ids[0], "--force")
        self.assertEqual((document["released"], document["pages"][0]["locked_until"]), (2, None))
        self.assertIn("0 locks removed", self.vcm("unlock", self.ids[0], check=0).out)

    def test_a_lock_makes_the_page_resident(self):
        self.run_json("evict", "--all", "--to", "evicted")
        document = self.run_json("lock", self.ids[3], "--ttl", "1h")
        self.assertEqual(document["pages"][0]["state"], "resident")

    def test_what_is_locked_never_exceeds_the_capacity(self):
        self.set_capacity(2)
        before = self.states()
        result = self.run_json("lock", *self.ids, "--ttl", "1h", check=1)
        self.assert_error(result, "STORE_FULL")
        self.assertEqual(self.stat()["pages"]["locked"], 0)
        self.assertEqual(self.states(), before)

    def test_a_time_is_needed(self):
        self.vcm("lock", self.ids[0], check=2)
        self.assert_error(self.run_json("lock", self.ids[0], "--ttl", "0s", check=2),
                          "INVALID_ARGUMENT", "--ttl")


class Pins(ResidencyTest):
    def test_a_pin_brings_pages_in_and_keeps_them(self):
        self.run_json("evict", "--all", "--to", "evicted")
        self.assertEqual(self.run_json("pin", "tool"),
                         {"pins": [{"scope_id": "tool", "page_id": None, "pinned": True,
                                    "changed": True}]})
        self.assertEqual(set(self.states().values()), {"resident"})
        self.assertEqual(self.stat()["pages"]["pinned"], len(self.ids))
        self.assertTrue(all(page["pinned"] for page in self.pages()))
        self.assertFalse(self.run_json("pin", "tool")["pins"][0]["changed"])
        self.assertEqual(self.run_json("evict", "--all")["pages_skipped"], len(self.ids))

    def test_unpin_takes_back_only_the_pin_that_it_names(self):
        self.run_json("pin", "tool")
        self.run_json("pin", self.ids[0][:10])
        self.assertFalse(self.run_json("unpin", self.ids[1])["pins"][0]["changed"])
        self.run_json("unpin", "tool")
        self.assertEqual([page["page_id"] for page in self.pages() if page["pinned"]],
                         [self.ids[0]])
        self.assertEqual(self.run_json("unpin", self.ids[0])["pins"],
                         [{"scope_id": None, "page_id": self.ids[0], "pinned": False,
                           "changed": True}])
        self.assertEqual(self.stat()["pages"]["pinned"], 0)

    def test_what_is_pinned_never_exceeds_the_capacity(self):
        self.set_capacity(3)
        before = self.stat()
        self.assert_error(self.run_json("pin", "tool", check=1), "STORE_FULL")
        self.assertEqual(self.stat()["pages"], before["pages"])
        self.run_json("pin", self.ids[0])
        self.run_json("pin", self.ids[1])
        self.assert_error(self.set_capacity(1, check=1), "STORE_FULL")
        self.assertEqual(self.stat()["bytes"]["capacity"], before["bytes"]["capacity"])
        self.run_json("verify")

    def remap(self, *args):
        row = self.map_row(self.repo, "--scope", "tool", "--flush-token-budget", "2000", *args)
        return row["status"], {page["pinned"] for page in self.pages()}

    def test_a_map_does_not_undo_the_pin_of_a_scope(self):
        self.run_json("pin", "tool")
        self.assertEqual(self.remap(), ("already_mapped", {True}))
        self.commit(self.repo, {"d/f3": "another\n" * 300})
        self.assertEqual(self.remap(), ("remapped", {True}))
        self.commit(self.repo, {f"d/g{i}": f"more {i}\n" * 300 for i in range(9)})
        self.assertEqual(self.remap(), ("remapped", {True}))
        self.assertEqual(self.run_json("evict", "--all")["pages_compressed"], 0)
        self.assertTrue(self.run_json("unpin", "tool")["pins"][0]["changed"])
        self.assertEqual(self.remap(), ("already_mapped", {False}))
        self.run_json("verify")

    def test_the_pin_of_a_scope_stays_when_its_row_is_pinned_and_no_longer(self):
        self.run_json("pin", "tool")
        self.assertEqual(self.remap("--pinned"), ("remapped", {True}))
        self.assertEqual(self.remap("--pinned"), ("already_mapped", {True}))
        self.assertEqual(self.remap(), ("remapped", {True}))
        self.assertEqual(self.remap(), ("already_mapped", {True}))
        self.run_json("unpin", "tool")
        self.assertEqual(self.remap(), ("already_mapped", {False}))

    def test_a_scope_that_its_row_pins_can_have_a_pin_of_its_own(self):
        self.assertEqual(self.remap("--pinned"), ("remapped", {True}))
        self.assertFalse(self.run_json("pin", "tool")["pins"][0]["changed"])
        self.assertEqual(self.remap(), ("remapped", {True}))
        self.assertTrue(self.run_json("unpin", "tool")["pins"][0]["changed"])
        self.assertEqual(self.remap("--pinned"), ("remapped", {True}))
        self.assertTrue(self.run_json("unpin", "tool")["pins"][0]["changed"])
        self.assertEqual(self.remap("--pinned"), ("remapped", {True}))
        self.assertEqual(self.remap(), ("remapped", {False}))

    def test_an_unknown_name_is_told(self):
        self.assert_error(self.run_json("pin", "nobody-here", check=1), "NOT_FOUND")


class Settings(ResidencyTest):
    def test_a_smaller_capacity_evicts_before_it_returns(self):
        self.set_capacity(3)
        stat = self.stat()
        self.assertLessEqual(stat["bytes"]["resident"], stat["bytes"]["capacity"])
        self.assertGreater(stat["pages"]["compressed"], 0)
        self.assertGreater(stat["evictions"], 0)
        self.run_json("config", "set", "cache.compressed_capacity", "0")
        stat = self.stat()
        self.assertEqual((stat["pages"]["compressed"], stat["bytes"]["compressed"]), (0, 0))
        self.assertGreater(stat["pages"]["evicted"], 0)
        self.run_json("verify", "--deep")

    def test_every_policy_can_be_chosen_and_the_store_goes_on(self):
        for policy in ("lru", "lfu", "s3fifo", "sieve"):
            self.run_json("config", "set", "cache.policy", policy)
            self.assertEqual(self.stat()["policy"], policy)
            self.set_capacity(4)
            for page in self.ids:
                self.run_json("page", page)
            stat = self.stat()
            self.assertLessEqual(stat["bytes"]["resident"], stat["bytes"]["capacity"])
        self.run_json("verify")

    def test_the_hit_ratio_is_null_before_the_first_read(self):
        self.assertIsNone(self.stat()["hit_ratio"])
        self.run_json("page", self.ids[0])
        self.assertEqual(self.stat()["hit_ratio"], 1)
        self.run_json("evict", self.ids[0])
        self.run_json("page", self.ids[0])
        self.assertEqual(self.stat()["hit_ratio"], 0.5)

    def test_a_second_writer_waits_with_a_message_and_then_the_store_is_busy(self):
        lock = WriterLock(self.home)
        self.addCleanup(lock.release)
        run = self.start("evict", "--all", "--json")
        pinning = self.start("pin", "tool", "--json")
        for started in (run, pinning):
            out, err = started.communicate(timeout=60)
            self.assertEqual(started.returncode, 1, out + err)
            self.assertIn(b"STORE_BUSY", out)
            self.assertIn(str(os.getpid()).encode(), err)


if __name__ == "__main__":
    unittest.main()
