"""Locks on pages: how long they last, how long they are waited for, and how long they may be."""

import fcntl
import os
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
        home = self.lock_home()
        runs = [self.start(*args, "--json", "--verbose")
                for args in (("lock", self.page, "--ttl", "1h"),
                             ("fault", self.page, "--lock", "1h"),
                             ("unmap", "tool"))]
        for run in runs:
            out, err = run.communicate(timeout=harness.TIMEOUT_SECONDS)
            self.assertEqual(run.returncode, 1, out)
            self.assertIn(b'"STORE_BUSY"', out)
            self.assertEqual(err.count(b"waiting for"), 1, err)
        self.assertIn(b"scopes.json", out)
        os.close(home)
        self.vcm("verify", check=0)

    def lock_home(self):
        """Holds the lock under which scopes.json is edited."""
        home = os.open(self.home, os.O_RDONLY | os.O_DIRECTORY)
        fcntl.flock(home, fcntl.LOCK_EX)
        return home

    def test_the_list_of_scopes_is_edited_once_it_is_free(self):
        home = self.lock_home()
        run = self.start("unmap", "tool", "--verbose")
        while b"waiting for" not in (line := run.stderr.readline()):
            self.assertNotEqual(line, b"")
        os.close(home)
        _, err = run.communicate(timeout=harness.TIMEOUT_SECONDS)
        self.assertEqual(run.returncode, 0, err)
        self.assertEqual(self.vcm("scopes", "--json", check=0).json()["scopes"], [])

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
