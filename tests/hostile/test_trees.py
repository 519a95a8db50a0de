"""Whatever trees a repository holds, the store stays sound and other scopes stay as they are.

VCM_TEST_SEED=N repeats one tree, whose seed a failure names. With VCM_TEST_LONG new seeds are tried
for some minutes.
"""

import os
import random
import time

import harness
import hostile_trees

FIRST_SEED = 20240601
TREES = 24


class Trees(harness.VcmTest):
    def setUp(self):
        super().setUp()
        good = self.make_repo({"good.c": "int good;\n", "dir/a.py": "def a():\n    pass\n"}, name="good")
        self.vcm("map", good, "--scope", "good", "--flush-threshold", "1", check=0)
        page = self.pages("good")[0]["page_id"]
        self.vcm("pin", page, check=0)
        self.good = good
        self.before = self.pages("good")
        self.assertEqual(len(self.before), 2)

    def pages(self, scope):
        return self.vcm("pages", "--scope", scope, "--json", check=0).json()["pages"]

    def test_the_store_stays_sound_whatever_a_tree_holds(self):
        for seed in self.seeds():
            with self.subTest(seed=seed, repeat=f"VCM_TEST_SEED={seed}"):
                self.one(seed)

    def seeds(self):
        if "VCM_TEST_SEED" in os.environ:
            yield int(os.environ["VCM_TEST_SEED"])
            return
        yield from range(FIRST_SEED, FIRST_SEED + TREES)
        end = time.monotonic() + 60 * hostile_trees.long_minutes()
        while time.monotonic() < end:
            seed = random.SystemRandom().randrange(10 ** 12)
            print(f"seed {seed}", flush=True)
            yield seed

    def one(self, seed):
        trees = hostile_trees.Trees(self, seed)
        rounds = 1 + seed % 2  # every other repository is mapped a second time
        for _ in range(rounds):
            trees.commit()
            mapped = self.vcm("map", trees.repo.path, "--scope", "evil", "--replace", "--json")
            self.assertIn(mapped.status, (0, 1, 3), mapped)
            self.vcm("verify", check=0)
            if mapped.status != 1:
                self.check_ledger(mapped.json()["sources"][0]["coverage"])
        self.assertEqual(self.pages("good"), self.before)
        if seed % 3 == 0:
            self.look_elsewhere(trees.repo.path)
        unmapped = self.vcm("unmap", "evil")
        self.assertIn(unmapped.status, (0, 1))

    def check_ledger(self, coverage):
        self.assertEqual(coverage["tracked"], sum(n for key, n in coverage.items() if key != "tracked"))
        paths = [f["path"] for f in self.vcm("coverage", "evil", "--json", check=0).json()["files"]
                 if f["outcome"] == "paged"]
        self.assertEqual(len(paths), len(set(paths)), "a path twice")
        self.assertEqual(len(paths), coverage["paged"])
        for path in paths:
            parts = path.lower().split("/")
            self.assertFalse({"", ".", "..", ".git"} & set(parts), path)

    def look_elsewhere(self, repo):
        """Nothing but a plain answer, or a plain refusal."""
        for command in (("symbols", repo), ("repo", "map", repo), ("lfs", "status", repo), ("check", repo),
                        ("refs", "g", repo)):
            self.assertIn(self.vcm(*command, "--json").status, (0, 1, 2, 3))
