"""Setting a damaged store aside beside other processes: what was answered with success stays."""

import os
import signal
import time
import unittest

from harness import WriterLock
from paging import PagingTest

LONG = bool(os.environ.get("VCM_TEST_LONG"))


class SetAside(PagingTest):
    def setUp(self):
        super().setUp()
        self.one = self.make_repo({f"one/f{i}": f"one {i}\n" * 200 for i in range(6)}, name="one")
        self.two = self.make_repo({f"two/f{i}": f"two {i}\n" * 200 for i in range(6)}, name="two")
        self.map_row(self.one, "--scope", "one")

    def mark(self):
        with open(os.path.join(self.home, "store.damaged"), "w", encoding="utf-8") as file:
            file.write("a test says so\n")

    def scopes(self):
        scopes = self.vcm("scopes", "--json", check=0).json()["scopes"]
        return {scope["scope_id"]: scope["commit"] for scope in scopes}

    def head(self, repo):
        return self.git(repo, "rev-parse", "HEAD")

    def stop(self, run):
        os.kill(run.pid, signal.SIGSTOP)
        self.addCleanup(self.end, run)

    @staticmethod
    def end(run):
        if run.poll() is None:
            run.kill()
            run.communicate()

    def finish(self, run):
        os.kill(run.pid, signal.SIGCONT)
        out, err = run.communicate(timeout=60)
        self.assertEqual(run.returncode, 0, out + err)

    @staticmethod
    def wait_for_lock(run):
        """Until the process waits for the writers' lock: it says so."""
        line = run.stderr.readline()
        while line and b"waiting for" not in line:
            line = run.stderr.readline()

    def waiting_map(self, *args):
        """A map that has opened the store and waits for its first write, stopped there."""
        lock = WriterLock(self.home)
        run = self.start("map", "--json", "--verbose", *args)
        self.wait_for_lock(run)
        self.stop(run)
        lock.release()
        return run

    def test_a_map_that_was_under_way_is_in_the_store_that_remains(self):
        run = self.waiting_map(self.two, "--scope", "two")
        self.mark()
        self.map_row(self.one, "--scope", "one")
        self.finish(run)
        self.assertEqual(self.scopes(), {"one": self.head(self.one), "two": self.head(self.two)})
        self.vcm("verify", check=0)

    def test_a_map_of_a_new_commit_is_not_undone_by_what_is_mapped_again(self):
        self.map_row(self.two, "--scope", "two")
        self.commit(self.two, {"two/f1": "later\n" * 100})
        run = self.waiting_map(self.two, "--scope", "two")
        self.mark()
        self.map_row(self.one, "--scope", "one")
        self.assertNotEqual(self.scopes()["two"], self.head(self.two))
        self.finish(run)
        self.assertEqual(self.scopes(), {"one": self.head(self.one), "two": self.head(self.two)})

    def test_a_scope_that_is_gone_when_it_is_to_be_unmapped_is_no_failure(self):
        rows = "schema_version: 1\nsources:\n  - {name: a, type: git_repo, start_dir: one}\n"
        self.commit(self.one, {".colony/repo_map.yaml": rows +
                               "  - {name: b, type: git_repo, start_dir: one}\n"})
        self.map(self.one, "--scope", "rows")
        self.commit(self.one, {".colony/repo_map.yaml": rows, "one/f1": "later\n"})
        run = self.waiting_map(self.one, "--scope", "rows")
        self.vcm("unmap", "rows:b", check=0)
        self.finish(run)
        self.assertEqual(sorted(self.scopes()), ["one", "rows:a"])

    def test_setting_aside_waits_for_the_writer(self):
        self.mark()
        lock = WriterLock(self.home)
        run = self.start("map", "--json", "--verbose", self.one, "--scope", "one")
        self.addCleanup(self.end, run)
        self.wait_for_lock(run)
        self.assertFalse(os.path.exists(os.path.join(self.home, "store.aside")))
        lock.release()
        self.finish(run)
        self.assertTrue(os.path.exists(os.path.join(self.home, "store.aside/data.mdb")))

    def test_two_maps_set_a_damaged_store_aside_once(self):
        self.mark()
        runs = [self.start("map", "--json", repo, "--scope", scope)
                for repo, scope in ((self.one, "one"), (self.two, "two"))]
        for run in runs:
            out, err = run.communicate(timeout=60)
            self.assertEqual(run.returncode, 0, out + err)
        self.assertEqual(self.scopes(), {"one": self.head(self.one), "two": self.head(self.two)})
        self.vcm("verify", check=0)

    def test_whenever_a_map_is_stopped_its_scope_remains(self):
        big = self.make_repo({f"big/d{i % 40}/f{i}": f"big {i}\n" * 400 for i in range(400)},
                             name="big")
        for i in range(40 if LONG else 4):
            self.vcm("unmap", "big")
            run = self.start("map", "--json", big, "--scope", "big")
            time.sleep(0.1 + i * (0.03 if LONG else 0.2))
            self.stop(run)
            self.mark()
            other = self.start("map", "--json", self.one, "--scope", "one")
            time.sleep(0.5)
            self.finish(run)
            self.finish(other)
            self.assertEqual(self.scopes(),
                             {"one": self.head(self.one), "big": self.head(big)}, i)
            self.vcm("verify", check=0)

    def test_a_set_aside_that_is_killed_is_done_by_the_next_map(self):
        self.map_row(self.two, "--scope", "two")
        for i in range(20 if LONG else 4):
            self.mark()
            run = self.start("map", "--json", self.one, "--scope", "one")
            time.sleep(0.05 + i * 0.05)
            run.kill()
            run.communicate()
            self.map_row(self.one, "--scope", "one")
            self.assertEqual(self.scopes(),
                             {"one": self.head(self.one), "two": self.head(self.two)}, i)
            self.vcm("verify", check=0)


if __name__ == "__main__":
    unittest.main()
