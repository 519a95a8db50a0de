"""`vcm gc` and clones: what nothing refers to goes after a while, what is used stays."""

import os
import shutil
import time

from clones import CloneTest
from harness import WriterLock
from repo_map import map_of

DAY = 24 * 60 * 60


class CloneGc(CloneTest):
    def fetched(self, name, days_ago=0):
        """A clone of a new repository that was fetched so long ago."""
        _, url = self.remote_repo(name=name)
        clone = self.vcm("repo", "fetch", url, "--json", check=0).json()["clone_path"]
        self.age(clone, days_ago)
        return url, clone

    def age(self, clone, days):
        when = time.time() - days * DAY
        os.utime(os.path.join(clone, "vcm-clone"), (when, when))

    def gc(self, *args, **options):
        document = self.vcm("gc", *args, "--json", check=0, **options).json()
        return document["clones_dropped"], document["clones_kept"]

    def test_an_old_clone_that_nothing_uses_goes_with_its_lock(self):
        _, old = self.fetched("old", 15)
        _, young = self.fetched("young", 13)
        document = self.vcm("gc", "--json", check=0).json()
        self.assertEqual((document["clones_dropped"], document["clones_kept"]), (1, 1))
        self.assertGreater(document["clone_bytes"], 100)
        self.assertEqual(self.clones(), [young])
        self.assertFalse(os.path.exists(old + ".lock"))
        self.assertEqual(self.gc("--clones-unused", "100h"), (1, 0))
        self.assertEqual(os.listdir(os.path.join(self.home, "clones")), [])

    def test_people_are_told(self):
        self.fetched("old", 15)
        self.assertRegex(self.vcm("gc", check=0).out, "1 unused clone of .* dropped, 0 kept")
        self.assertNotIn("clone", self.vcm("gc", check=0).out)

    def test_what_was_dropped_is_fetched_again_when_it_is_wanted(self):
        url, clone = self.fetched("old", 15)
        self.gc()
        self.assertEqual(self.vcm("repo", "fetch", url, "--json", check=0).json()["clone_path"],
                         clone)

    def test_the_clone_of_a_scope_stays_until_it_is_unmapped(self):
        _, url = self.remote_repo()
        scope = self.report("map", url)["base_scope_id"]
        [clone] = self.clones()
        self.age(clone, 100)
        self.assertEqual(self.gc(), (0, 1))
        self.vcm("unmap", scope, check=0)
        self.assertEqual(self.gc(), (1, 0))

    def test_clones_of_rows_are_used_too(self):
        _, url = self.remote_repo()
        repo = self.repo_with(map_of(f"name: far, type: git_repo, origin_url: '{url}'"), ["a"])
        self.report("map", repo)
        [clone] = self.clones()
        self.age(clone, 100)
        self.assertEqual(self.gc(), (0, 1))
        self.set_map(repo, map_of("name: near, type: git_repo"))
        self.commit(repo, {})
        self.report("map", repo)
        self.age(clone, 100)
        self.assertEqual(self.gc(), (1, 0))

    def test_fetching_and_reading_count_as_use(self):
        url, clone = self.fetched("fetched", 100)
        self.vcm("repo", "fetch", url, check=0)
        self.assertEqual(self.gc(), (0, 1))
        self.age(clone, 100)
        self.vcm("repo", "map", clone, check=0)
        self.assertEqual(self.gc(), (0, 1))
        self.age(clone, 100)
        commit = self.git(clone, "rev-parse", "HEAD")
        self.vcm("repo", "fetch", url, "--ref", commit, check=0)
        self.assertEqual(self.gc(), (0, 1))

    def test_a_clone_that_is_being_fetched_into_stays(self):
        _, clone = self.fetched("busy", 100)
        lock = WriterLock(self.home, clone + ".lock")
        self.assertEqual(self.gc(), (0, 1))
        lock.release()
        self.assertEqual(self.gc(), (1, 0))

    def test_what_was_never_finished_goes_at_once(self):
        _, clone = self.fetched("half")
        os.unlink(os.path.join(clone, "vcm-clone"))
        self.assertEqual(self.gc(), (1, 0))

    def test_nothing_else_in_the_directory_is_touched(self):
        self.fetched("old", 100)
        mine = os.path.join(self.home, "clones", "mine.txt")
        self.write(os.path.dirname(mine), {"mine.txt": "x"})
        elsewhere = self.make_repo({"a": "1\n"}, name="elsewhere")
        os.symlink(elsewhere, os.path.join(self.home, "clones", "link.git"))
        self.assertEqual(self.gc()[0], 1)
        self.assertTrue(os.path.exists(mine))
        self.assertTrue(os.path.exists(os.path.join(elsewhere, "a")))

    def test_less_than_an_hour_is_refused(self):
        self.fetched("old", 100)
        for text in ("59m", "0s", "soon", "-1h"):
            error = self.error_of("gc", f"--clones-unused={text}", check=2)
            self.assertEqual(error["code"], "INVALID_ARGUMENT")
        self.assertEqual(len(self.clones()), 1)

    def test_beside_processes_that_fetch_nothing_is_lost(self):
        _, url = self.remote_repo()
        self.vcm("repo", "fetch", url, check=0)
        for _ in range(3):
            [clone] = self.clones()
            self.age(clone, 100)
            runs = [self.start("repo", "fetch", url, "--json"), self.start("gc", "--json"),
                    self.start("repo", "fetch", url, "--json")]
            for run in runs:
                out, err = run.communicate(timeout=60)
                self.assertEqual(run.returncode, 0, (out, err))
            self.assertEqual(len(self.clones()), 1)

    def test_a_damaged_store_keeps_every_clone(self):
        _, url = self.remote_repo()
        self.report("map", url)
        [clone] = self.clones()
        self.age(clone, 100)
        for place, _, names in os.walk(os.path.join(self.home, "store")):
            for name in names:
                if name == "data.mdb":
                    with open(os.path.join(place, name), "r+b") as file:
                        file.write(b"\xff" * 64)
        self.vcm("gc", "--json")
        self.assertEqual(self.clones(), [clone])
        shutil.rmtree(os.path.join(self.home, "store"))
        self.vcm("gc", "--json")
        self.assertEqual(self.clones(), [clone])  # the list of scopes still names it
