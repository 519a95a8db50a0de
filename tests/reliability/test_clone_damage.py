"""A damaged clone under the home is made anew, once; a damaged remote is told and costs nothing."""

import glob
import itertools
import os
import shutil

import clones

LONG = "VCM_TEST_LONG" in os.environ
# How a file is damaged; a line each.
KINDS = {
    "empty": lambda path: os.truncate(path, 0),
    "junk": lambda path: clones.CloneTest.write(os.path.dirname(path), {os.path.basename(path): b"\xff\0junk"}),
    "half": lambda path: os.truncate(path, os.path.getsize(path) // 2),
    "gone": os.unlink,
    "folder": lambda path: (os.unlink(path), os.mkdir(path)),
}
ADDED = ("packed-refs", "shallow.lock", "objects/info/alternates")  # that a clone does not have


class CloneDamage(clones.CloneTest):
    def setUp(self):
        super().setUp()
        self.repo, self.url = self.remote_repo({"a.txt": "alpha\n", "src/deep/c.c": "int c;\n"})
        self.vcm("map", self.url, check=0)
        self.commit(self.repo, {"e.c": "int e;\n"})
        self.vcm("map", self.url, check=0)
        [self.clone] = self.clones()
        shutil.copytree(self.home, self.home + ".good")

    def restore(self):
        shutil.rmtree(self.home)
        shutil.copytree(self.home + ".good", self.home)

    def damages(self):
        files = sorted(os.path.relpath(path, self.clone) for path in glob.glob(
            os.path.join(self.clone, "**"), recursive=True) if os.path.isfile(path))
        turns = itertools.cycle(KINDS)
        for name in (*files, *ADDED):
            for kind in KINDS if LONG else [next(turns)]:
                self.restore()
                path = os.path.join(self.clone, name)
                if not os.path.exists(path):
                    self.write(self.clone, {name: "x" * 30})
                os.chmod(path, 0o600)
                KINDS[kind](path)
                yield f"{name}: {kind}"

    def assert_clean(self):
        self.assertEqual(self.clones(), [self.clone])
        self.assertEqual(glob.glob(self.clone + ".damaged"), [])

    def test_a_damage_of_any_file_is_gone_after_a_fetch(self):
        for count, damage in enumerate(self.damages()):
            self.commit(self.repo, {"e.c": f"int e{count};\n"})
            row = self.row(self.url)
            self.assertEqual((row["status"], row["coverage"]["paged"]), ("remapped", 3), damage)
            self.assert_clean()

    def test_an_object_that_cannot_be_read_is_there_at_the_next_try(self):
        for damage in self.damages():
            for _ in range(2):
                result = self.vcm("map", self.url, "--scope", "other", "--json")
                if result.status == 0:
                    break
            self.assertEqual(result.status, 0, f"{damage}\n{result}")
            self.assertEqual(result.json()["sources"][0]["coverage"]["paged"], 3, damage)
            self.assert_clean()

    def test_a_remote_that_is_damaged_is_blamed_and_the_clone_stays(self):
        kept = self.git(self.repo, "rev-parse", "HEAD")
        new = self.commit(self.repo, {"new.c": "int new;\n"})
        blob = self.git(self.repo, "rev-parse", f"{new}:new.c")
        os.unlink(os.path.join(self.repo, ".git", "objects", blob[:2], blob[2:]))
        log = self.log_git()
        for damage in (False, True):
            if damage:
                self.write(self.clone, {"refs/vcm/fetched": ""})
            message = self.failure(self.url, code="IO_ERROR")
            self.assertIn(self.url, message)
            self.assert_clean()
            with open(log, encoding="utf-8") as file:
                calls = [line.split()[0] for line in file if "upload-pack" not in line]
            # One fetch, and with a damaged clone one more into a new one.
            self.assertEqual(calls.count("fetch"), 2 if damage else 1, calls)
            os.unlink(log)
        self.assertEqual(self.row(self.url, "--commit", kept, "--scope", "x")["coverage"]["paged"], 3)
