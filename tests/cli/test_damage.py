"""A damaged store is marked, set aside by the next map, and mapped anew."""

import os
import random
import unittest

from paging import PagingTest

SEED = 20261116


class Damage(PagingTest):
    def setUp(self):
        super().setUp()
        self.marker = os.path.join(self.home, "store.damaged")
        self.aside = os.path.join(self.home, "store.aside")
        chosen = random.Random(SEED)
        self.repos = [self.make_repo({f"{name}/f{i}": f"{name} {i} {chosen.random()}\n" * 300
                                      for i in range(12)}, name=name) for name in ("one", "two")]
        for repo, scope in zip(self.repos, ("first", "second")):
            self.map_row(repo, "--scope", scope, "--flush-token-budget", "2000")
        self.right = self.listing()

    def listing(self):
        document = self.vcm("pages", "--json", check=0).json()
        return [{key: page[key] for key in ("page_id", "scope_id", "seq", "files", "tokens")}
                for page in document["pages"]]

    def frame_offsets(self):
        """Where frames lie in the file: their text is there as it is."""
        with open(self.data_file(), "rb") as file:
            content = file.read()
        at, found = content.find(b'{"path":'), []
        while at >= 0:
            found.append(at)
            at = content.find(b'{"path":', at + 1)
        return found

    def flip(self, at):
        with open(self.data_file(), "r+b") as file:
            file.seek(at)
            byte = file.read(1)
            file.seek(at)
            file.write(bytes([byte[0] ^ 1]))

    def find_damage(self):
        """Reads all pages until one is found to be damaged."""
        for page in self.right:
            result = self.vcm("page", page["page_id"], "--json")
            if result.status:
                self.assertEqual(result.json()["error"]["code"], "STORE_CORRUPT", result)
                return
        self.fail("the damage was not found")

    def test_a_flipped_bit_is_found_marked_and_mended_by_the_next_map(self):
        self.flip(self.frame_offsets()[3] + 20)
        self.assertFalse(os.path.exists(self.marker))
        self.find_damage()
        self.assertTrue(os.path.exists(self.marker))
        document = self.map(self.repos[0], "--scope", "first", "--flush-token-budget", "2000")
        self.assertEqual(document["sources"][0]["status"], "mapped")
        self.assertFalse(os.path.exists(self.marker))
        self.assertTrue(os.path.exists(os.path.join(self.aside, "data.mdb")))
        self.assertEqual(self.listing(), self.right)
        for page in self.right:
            self.vcm("page", page["page_id"], "--json", check=0)

    def test_whoever_meets_damage_marks_it(self):
        at = self.frame_offsets()[3] + 20
        ids = [page["page_id"] for page in self.right]
        for words in (["evict", "--all"], ["evict", *ids], ["verify"]):
            self.flip(at)
            result = self.vcm(*words, "--json")
            self.assertIn(result.status, (1, 3), result)
            self.assertIn("damaged", result.out)
            self.assertTrue(os.path.exists(self.marker), words)
            os.unlink(self.marker)
            self.flip(at)

    def test_a_truncated_store_is_mended_by_the_map_that_meets_it(self):
        os.truncate(self.data_file(), 8192)
        document = self.map(self.repos[1], "--scope", "second", "--flush-token-budget", "2000")
        self.assertEqual(document["status"], "mapped")
        self.assertEqual(self.listing(), self.right)

    def test_a_second_damage_replaces_what_the_first_set_aside(self):
        for _ in range(2):
            os.truncate(self.data_file(), 8192)
            self.map(self.repos[1], "--scope", "second", "--flush-token-budget", "2000")
        self.assertEqual(sorted(name for name in os.listdir(self.home) if name.startswith("store")),
                         ["store", "store.aside"])

    def test_a_scope_that_cannot_be_mapped_anew_is_named(self):
        os.rename(self.repos[0], self.repos[0] + ".gone")
        os.truncate(self.data_file(), 8192)
        result = self.vcm("map", self.repos[1], "--scope", "second", "--flush-token-budget", "2000",
                          "--json", check=0)
        self.assertIn("first", result.err)
        self.assertIn("vcm map", result.err)
        self.assertEqual({page["scope_id"] for page in self.listing()}, {"second"})

    def test_what_was_unmapped_does_not_come_back(self):
        self.vcm("unmap", "first", check=0)
        os.truncate(self.data_file(), 8192)
        self.map(self.repos[1], "--scope", "second", "--flush-token-budget", "2000")
        self.assertEqual({page["scope_id"] for page in self.listing()}, {"second"})

    def test_a_broken_roster_costs_only_the_other_scopes(self):
        with open(os.path.join(self.home, "scopes.json"), "wb") as file:
            file.write(b'{"scopes":[{"scope_id":7},[],{"scope_id":"x"}')
        os.truncate(self.data_file(), 8192)
        self.map(self.repos[1], "--scope", "second", "--flush-token-budget", "2000")
        self.assertEqual({page["scope_id"] for page in self.listing()}, {"second"})


if __name__ == "__main__":
    unittest.main()
