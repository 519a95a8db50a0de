"""A data file that was emptied or deleted: the list of scopes beside the store tells."""

import fcntl
import json
import os
import unittest

from paging import PagingTest

SCOPES = ("first", "second")


class LostStore(PagingTest):
    def setUp(self):
        super().setUp()
        self.roster = os.path.join(self.home, "scopes.json")
        self.repos = [self.make_repo({f"{scope}/f{i}": f"{scope} {i}\n" * 200 for i in range(6)},
                                     name=scope) for scope in SCOPES]
        for repo, scope in zip(self.repos, SCOPES):
            self.map(repo, "--scope", scope, "--flush-token-budget", "2000")
        self.right = self.listing()

    def listing(self):
        return [(page["scope_id"], page["seq"], page["page_id"]) for page in self.pages()]

    def scopes(self):
        return {page["scope_id"] for page in self.pages()}

    def listed(self):
        with open(self.roster, encoding="utf-8") as file:
            return {entry["scope_id"] for entry in json.load(file)["scopes"]}

    def lose(self, how):
        if how == "deleted":
            os.unlink(self.data_file())
        elif how == "emptied":
            os.truncate(self.data_file(), 0)
        else:
            for folder, _, names in os.walk(os.path.join(self.home, "store")):
                for name in names:
                    os.unlink(os.path.join(folder, name))

    def missing(self):
        """The scopes that verify says are missing."""
        document = self.vcm("verify", "--json", check=1).json()
        for finding in document["findings"]:
            self.assertIn("vcm map", finding["what"])
            self.assertTrue(finding["where"].startswith("scope "), finding)
        return {finding["where"].removeprefix("scope ") for finding in document["findings"]}

    def test_verify_tells_which_scopes_are_missing(self):
        for how in ("deleted", "emptied", "all files deleted"):
            with self.subTest(how=how):
                self.lose(how)
                self.assertEqual(self.missing(), set(SCOPES))
                self.map(self.repos[1], "--scope", "second", "--flush-token-budget", "2000")
                self.assertEqual(self.listing(), self.right)
                self.vcm("verify", check=0)

    def test_the_next_map_brings_every_scope_back_whatever_it_maps(self):
        other = self.make_repo({"x": "1\n"}, name="other")
        for how in ("deleted", "emptied", "all files deleted"):
            with self.subTest(how=how):
                self.lose(how)
                self.map(other, "--scope", "other")
                self.assertEqual(self.listed(), {*SCOPES, "other"})
                self.vcm("unmap", "other", check=0)
                self.assertEqual(self.listing(), self.right)
                self.vcm("verify", check=0)

    def test_a_writer_that_made_an_empty_store_hides_nothing(self):
        self.lose("deleted")
        self.vcm("config", "set", "cache.capacity", "1GiB", check=0)
        self.assertEqual(self.missing(), set(SCOPES))
        self.map(self.repos[0], "--scope", "first", "--flush-token-budget", "2000")
        self.assertEqual(self.listing(), self.right)

    def test_a_map_that_was_killed_before_it_had_brought_all_back_is_continued(self):
        """The list names a scope that the store never had: as after such a kill."""
        with open(self.roster, encoding="utf-8") as file:
            full = file.read()
        self.vcm("unmap", "second", check=0)
        with open(self.roster, "w", encoding="utf-8") as file:
            file.write(full)
        self.assertEqual(self.missing(), {"second"})
        self.map(self.repos[0], "--scope", "first", "--flush-token-budget", "2000")
        self.assertEqual(self.listing(), self.right)
        self.vcm("verify", check=0)

    def test_what_cannot_come_back_is_tried_once_and_told_until_it_is_forgotten(self):
        self.lose("emptied")
        os.rename(self.repos[0], self.repos[0] + ".gone")
        words = ["map", self.repos[1], "--scope", "second", "--flush-token-budget", "2000"]
        self.assertIn("scope 'first' could not be mapped anew", self.vcm(*words, check=0).err)
        self.assertNotIn("first", self.vcm(*words, check=0).err)
        self.assertEqual(self.missing(), {"first"})
        self.assertIn("vcm unmap first", self.vcm("verify", check=1).out)
        self.assertEqual(self.vcm("unmap", "first", "--json", check=0).json()["unmapped"],
                         ["first"])
        self.vcm("verify", check=0)
        self.assertEqual(self.listed(), {"second"})

    def test_what_cannot_come_back_is_mapped_by_hand(self):
        self.lose("emptied")
        os.rename(self.repos[0], self.repos[0] + ".gone")
        self.map(self.repos[1], "--scope", "second", "--flush-token-budget", "2000")
        os.rename(self.repos[0] + ".gone", self.repos[0])
        self.map(self.repos[0], "--scope", "first", "--flush-token-budget", "2000")
        self.vcm("verify", check=0)
        self.assertEqual(self.listing(), self.right)

    def kill_at_the_roster(self, *words):
        """Kills a vcm that waits for its turn to edit the list of scopes."""
        home = os.open(self.home, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.flock(home, fcntl.LOCK_EX)
            run = self.start(*words, "--verbose")
            while b"that edits scopes.json" not in (line := run.stderr.readline()):
                self.assertNotEqual(line, b"", "it did not wait")
            run.kill()
            run.communicate()
        finally:
            os.close(home)

    def test_an_unmapping_that_is_killed_leaves_the_scope_or_nothing_of_it(self):
        self.kill_at_the_roster("unmap", "first")
        self.assertEqual(self.scopes(), set(SCOPES))
        self.vcm("verify", check=0)
        self.vcm("unmap", "first", check=0)
        self.vcm("verify", check=0)
        self.map(self.repos[1], "--scope", "second", "--flush-token-budget", "2000")
        self.assertEqual(self.scopes(), {"second"})

    def test_a_row_that_left_the_map_does_not_come_back(self):
        row = "- name: {0}\n  type: git_repo\n  start_dir: {0}\n"
        repo = self.make_repo({"a/x": "1\n", "b/x": "2\n", ".colony/repo_map.yaml":
                               "schema_version: 1\nsources:\n" + row.format("a") + row.format("b")},
                              name="rows")
        self.map(repo, "--scope", "rows")
        self.assertEqual(self.scopes(), {*SCOPES, "rows:a", "rows:b"})
        self.commit(repo, {".colony/repo_map.yaml":
                           "schema_version: 1\nsources:\n" + row.format("a")})
        self.kill_at_the_roster("map", repo, "--scope", "rows")
        self.assertIn("rows:b", self.scopes())
        self.vcm("verify", check=0)
        self.assertEqual(self.map(repo, "--scope", "rows")["unmapped"], ["rows:b"])
        self.lose("emptied")
        self.map(repo, "--scope", "rows")
        self.assertEqual(self.scopes(), {*SCOPES, "rows:a"})


if __name__ == "__main__":
    unittest.main()
