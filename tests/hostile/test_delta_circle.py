"""Deltas that lead nowhere: each other's base, their own base, or thousands in a row.

libgit2 follows them for ever. A command that does so never ends, so no time is compared: the harness
gives up on it.
"""

import unittest

import harness
import raw_git

# A delta that makes one byte of a base of one byte.
DELTA = bytes([1, 1, 1, ord("x")])
COMMANDS = [("map", "{}"), ("check", "{}"), ("symbols", "{}"), ("refs", "x", "{}"),
            ("repo", "map", "{}"), ("lfs", "status", "{}")]
CIRCLE, DEEP = "based on each other", "more than 4096 deltas"


def name(number):
    return f"5{number:039x}"


class DeltaCircle(harness.VcmTest):
    def make(self, entries, place):
        """A repository where the object name(0) stands at `place`: "blob", "tree" or "commit"."""
        repo = raw_git.Repository(self)
        good = repo.blob(b"int x;\n")
        repo.pack(entries)
        if place == "blob":
            tree = repo.tree([(b"100644", b"bad.c", name(0)), (b"100644", b"good.c", good)])
        elif place == "tree":
            tree = repo.tree([(b"40000", b"bad", name(0)), (b"100644", b"good.c", good)])
        else:
            return repo.path, repo.set_head(name(0))
        return repo.path, repo.set_head(repo.commit(tree))

    def run_all(self, entries, place, words):
        repo, _ = self.make(entries, place)
        for command in COMMANDS:
            with self.subTest(command=command, place=place):
                result = self.vcm(*(word.format(repo) for word in command))
                if place == "tree":
                    self.assertEqual(result.status, 1, result)
                    self.assertIn(words, result.out + result.err, result)
                if place == "blob" and command[0] == "map":
                    self.assertEqual(result.status, 3, result)
        self.vcm("verify")

    def test_two_deltas_that_are_each_others_base(self):
        for place in ("blob", "tree", "commit"):
            with self.subTest(place=place):
                self.setUp()
                self.run_all([(name(0), name(1), DELTA), (name(1), name(0), DELTA)], place, CIRCLE)

    def test_a_delta_that_is_its_own_base(self):
        self.run_all([(name(0), name(0), DELTA)], "tree", CIRCLE)

    def test_a_way_into_a_circle(self):
        self.run_all([(name(3), name(1), DELTA), (name(2), 1, DELTA), (name(1), 1, DELTA),
                      (name(0), 1, DELTA)], "tree", CIRCLE)

    def test_more_deltas_in_a_row_than_git_makes(self):
        deltas = [(name(5000), "tree", b"")]
        deltas += [(name(number), 1, DELTA) for number in range(4999, -1, -1)]
        self.run_all(deltas, "tree", DEEP)

    def test_a_repository_with_deltas_by_id_is_read_as_ever(self):
        repo = self.make_repo({f"d{i}/f.c": "int x;\n" * 200 + f"int y{i};\n" for i in range(20)})
        self.git(repo, "-c", "repack.useDeltaBaseOffset=false", "repack", "-adfq")
        self.vcm("map", repo, check=0)
        self.vcm("symbols", repo, check=0)


if __name__ == "__main__":
    unittest.main()
