"""Locks on pages: how long they last, how long they are waited for, and how long they may be."""

import time

import harness

LONGEST = "87840h"  # ten years


class Locks(harness.VcmTest):
    def setUp(self):
        super().setUp()
        self.vcm("map", self.make_repo({"a": "a text\n", "b/c": "another\n"}), "--scope", "tool",
                 check=0)
        self.page = self.vcm("pages", "--json", check=0).json()["pages"][0]["page_id"]

    def locked(self):
        return self.vcm("stat", "--json", check=0).json()["pages"]["locked"]

    def test_a_writer_is_waited_for_once(self):
        lock = harness.WriterLock(self.home)
        self.addCleanup(lock.release)
        runs = [self.start(*args, "--json", "--verbose")
                for args in (("lock", self.page, "--ttl", "1h"),
                             ("fault", self.page, "--lock", "1h"))]
        for run in runs:
            out, err = run.communicate(timeout=harness.TIMEOUT_SECONDS)
            self.assertIn(b'"STORE_BUSY"', out)
            self.assertEqual(err.count(b"waiting for"), 1, err)

    def test_a_lock_is_over_when_its_time_is_over(self):
        for _ in range(2):  # at two places within a second of the clock
            self.vcm("lock", self.page, "--ttl", "1s", check=0)
            time.sleep(1.001)
            self.assertEqual(self.locked(), 0)
            time.sleep(0.3)

    def test_a_time_that_is_too_long_is_refused_and_the_limit_named(self):
        for ttl in ("87841h", "18446744073709551615ms", "99999999999999999999h"):
            for args in (("lock", self.page, "--ttl", ttl), ("fault", self.page, "--lock", ttl)):
                result = self.vcm(*args, "--json", check=2)
                error = result.json()["error"]
                self.assertEqual(error["code"], "INVALID_ARGUMENT")
                self.assertIn(LONGEST, error["message"])
                self.assertIn(ttl, error["message"])
        self.assertEqual(self.locked(), 0)
        self.vcm("lock", self.page, "--ttl", LONGEST, check=0)
        self.assertEqual(self.locked(), 1)
