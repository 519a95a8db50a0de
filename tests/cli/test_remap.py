"""A remap walks what has changed and no more, and gives what a mapping of the whole would."""

import os
import random
import shutil

import paging
from harness import Symlink
from repo_map import MAP, map_of

NAMES = ["a", "b", "c.txt", "d.c", "e.log", "lib", "sub", "x.tmp", "doc"]
RULES = ["*.log\n", "*.tmp\n", "!*.log\n", "sub/\n", "/lib\n", "doc/*\n!doc/d.c\n", "d.c\n", "", "#\n"]
SEEDS = [1, 2, 3]
STEPS = 10


class Remap(paging.PagingTest):
    def facts(self, home, scope, with_records):
        """All that a scope holds: pages in order, the ledger, and records with their provenance."""
        env = {"VCM_HOME": home}
        pages = self.vcm("pages", "--scope", scope, "--limit", "1000", "--json", check=0,
                         env=env).json()["pages"]
        records = [self.vcm("page", page["page_id"], "--scope", scope, "--seq", str(page["seq"]),
                            "--json", check=0, env=env).json()["records"]
                   for page in pages if with_records]
        ledger = self.vcm("coverage", scope, "--json", check=0, env=env).json()
        counts = [{key: page[key] for key in ("page_id", "seq", "records", "tokens", "bytes")}
                  for page in pages]
        return counts, records, ledger

    def cold(self, repo):
        home = os.path.join(self.tmp, "cold")
        shutil.rmtree(home, ignore_errors=True)
        self.make_home(home)
        row = self.vcm("map", repo, "--scope", "s", "--json",
                       env={"VCM_HOME": home}).json()["sources"][0]
        return home, row

    def assert_as_cold(self, repo, row, with_records=True):
        home, cold = self.cold(repo)
        for key in ("records", "pages", "tokens", "bytes", "coverage", "code", "commit"):
            self.assertEqual(row[key], cold[key], key)
        self.assertEqual(self.facts(self.home, row["scope_id"], with_records),
                         self.facts(home, row["scope_id"], with_records))

    def directories(self, repo):
        found = [""]
        for folder, names, _ in os.walk(repo):
            names[:] = [name for name in names if name != ".git"]
            found += [os.path.relpath(os.path.join(folder, name), repo) + "/" for name in names]
        return found

    def edit(self, repo, dice):
        """One change of a random kind: of files, of rules, of directories as a whole."""
        folder = dice.choice(self.directories(repo))
        path = os.path.join(repo, folder)
        kind = dice.randrange(10)
        if kind == 0:
            self.write(repo, {folder + dice.choice([".gitignore", ".colonyignore"]):
                              dice.choice(RULES)})
        elif kind == 1 and folder:
            shutil.rmtree(path)
        elif kind == 2 and folder:
            other = os.path.join(repo, dice.choice(NAMES) + "2")
            if not os.path.lexists(other):
                os.rename(path.rstrip("/"), other)
        elif kind == 3:
            self.put(repo, folder + dice.choice(NAMES), Symlink("a"))
        elif kind == 4:
            self.put(repo, folder + dice.choice(NAMES), b"\0binary" + dice.randbytes(3))
        elif kind == 5:
            self.put(repo, folder + dice.choice(NAMES) + "/" + dice.choice(NAMES),
                     f"deep {dice.random()}\n")
        else:
            lines = dice.choice([1, 5, 60, 800])
            self.put(repo, folder + dice.choice(NAMES),
                     "".join(f"line {n} {dice.random()}\n" for n in range(lines)))

    def put(self, repo, path, content):
        """Writes a file unless a directory is in its way, or a file in that of its directory."""
        parts = path.split("/")
        for n in range(1, len(parts)):
            above = os.path.join(repo, *parts[:n])
            if os.path.lexists(above) and (os.path.islink(above) or not os.path.isdir(above)):
                return
        if not os.path.isdir(os.path.join(repo, path)) or os.path.islink(os.path.join(repo, path)):
            self.write(repo, {path: content})

    def test_a_path_that_cannot_be_shown_leaves_everything_to_be_walked(self):
        repo = self.make_repo({"d/a": "a\n", os.fsdecode(b"b\xffc"): "x\n"})
        self.map_row(repo, "--scope", "s")
        self.commit(repo, {"d/b": "b\n"})
        row = self.map_row(repo, "--scope", "s")
        self.assertEqual(row["status"], "remapped")
        self.assert_as_cold(repo, row)

    def test_whatever_is_edited_a_remap_is_what_a_cold_map_is(self):
        for seed in SEEDS:
            with self.subTest(seed=seed):
                dice = random.Random(seed)
                repo = self.make_repo({f"{a}/{b}": f"{a} {b} {n}\n" * 30
                                       for n, a in enumerate("pqrs") for b in NAMES[:6]},
                                      name=f"repo-{seed}")
                shutil.rmtree(self.home)
                self.make_home(self.home)
                for step in range(STEPS):
                    for _ in range(dice.choice([1, 1, 1, 4])):
                        self.edit(repo, dice)
                    self.commit(repo, {})
                    row = self.vcm("map", repo, "--scope", "s", "--json", check=0).json()
                    self.assert_as_cold(repo, row["sources"][0], step == STEPS - 1)

    def forget(self, repo, name):
        """Takes an object of the repository away."""
        oid = self.git(repo, "rev-parse", name)
        os.rename(os.path.join(repo, ".git/objects", oid[:2], oid[2:]),
                  os.path.join(self.tmp, oid))
        return oid

    def bring_back(self, repo, oid):
        os.rename(os.path.join(self.tmp, oid), os.path.join(repo, ".git/objects", oid[:2], oid[2:]))

    def test_an_unchanged_directory_is_not_even_read(self):
        repo = self.make_repo({"a/x": "x\n", "b/deep/y": "y\n", "b/deep/n.bin": b"\0", "c": "c\n"})
        self.map(repo)
        self.commit(repo, {"a/x": "changed\n"})
        gone = self.forget(repo, "HEAD:b")
        row = self.map_row(repo)
        self.assertEqual((row["status"], row["coverage"]["tracked"], row["coverage"]["paged"],
                          row["coverage"]["binary"]), ("remapped", 4, 3, 1))
        self.bring_back(repo, gone)
        self.assert_as_cold(repo, dict(self.vcm("map", repo, "--scope", "s", "--json",
                                                check=0).json()["sources"][0]))

    def assert_nothing_is_lost(self, name, content, binary):
        repo = self.make_repo({"a/c.bin": b"\0", name: content, "a/z.bin": b"\0z", "a/t": "t\n",
                               "b/x": "x\n"})
        self.vcm("map", repo, "--scope", "s", check=0)
        self.commit(repo, {"b/x": "changed\n"})
        row = self.vcm("map", repo, "--scope", "s", "--json", check=0).json()["sources"][0]
        self.assertEqual((row["coverage"]["tracked"], row["coverage"]["binary"]), (5, binary))
        self.assert_as_cold(repo, row)

    def test_a_binary_name_that_is_no_utf8_loses_nothing_of_its_directory(self):
        self.assert_nothing_is_lost(os.fsdecode(b"a/k\xff.bin"), b"\0", 3)

    def test_a_text_name_that_is_no_utf8_loses_nothing_of_its_directory(self):
        self.assert_nothing_is_lost(os.fsdecode(b"a/k\xff.txt"), "text\n", 2)

    def test_an_ignore_file_above_makes_it_read_again(self):
        for name in (".gitignore", ".colonyignore"):
            with self.subTest(name=name):
                repo = self.make_repo({"a/b/x.log": "x\n", "a/b/y": "y\n", "a/z": "z\n"},
                                      name="repo" + name)
                self.vcm("map", repo, "--scope", "s" + name, check=0)
                self.commit(repo, {f"a/{name}": "*.log\n"})
                row = self.vcm("map", repo, "--scope", "s" + name, "--json", check=0).json()
                self.assertEqual(row["sources"][0]["coverage"]["ignored"], 1)
                self.commit(repo, {f"a/{name}": "\n"})
                row = self.vcm("map", repo, "--scope", "s" + name, "--json", check=0).json()
                self.assertEqual(row["sources"][0]["coverage"]["ignored"], 0)

    def test_another_configuration_reads_everything(self):
        row = "name: r, type: git_repo"
        repo = self.make_repo({MAP: map_of(row), "a/b/x.txt": "x\n", "a/b/y.c": "y\n", "z.c": "z\n"})
        self.assertEqual(self.map_row(repo)["coverage"]["excluded"], 0)
        self.commit(repo, {MAP: map_of(row + ", exclude_globs: ['*.txt']")})
        self.assertEqual(self.map_row(repo)["coverage"]["excluded"], 1)

    def test_what_could_not_be_read_is_tried_again_in_a_directory_that_has_not_changed(self):
        repo = self.make_repo({"a/x": "x\n", "b/y": "y\n", "b/z": "z\n"})
        gone = self.forget(repo, "HEAD:b/y")
        self.assertEqual(self.map_row(repo, check=3)["coverage"]["failed"], 1)
        self.commit(repo, {"a/x": "changed\n"})
        self.bring_back(repo, gone)
        row = self.map_row(repo)
        self.assertEqual((row["coverage"]["failed"], row["coverage"]["paged"]), (0, 3))

    def test_a_former_commit_that_is_gone_hinders_nothing(self):
        repo = self.make_repo({"a/x": "x\n", "b/y": "y\n"})
        self.map(repo)
        old = self.git(repo, "rev-parse", "HEAD")
        self.commit(repo, {"a/x": "changed\n"})
        self.forget(repo, old)
        self.assertEqual(self.map_row(repo)["coverage"]["paged"], 2)

    def test_a_directory_without_its_tree_is_one_entry_that_failed_until_it_comes(self):
        repo = self.make_repo({"a/x": "x\n", "b/c/y": "y\n", "b/z": "z\n", "d/w": "w\n",
                               ".gitignore": "d/\n"})
        gone = [self.forget(repo, "HEAD:b/c"), self.forget(repo, "HEAD:d")]
        row = self.map_row(repo, check=3)
        self.assertEqual((row["coverage"]["tracked"], row["coverage"]["paged"],
                          row["coverage"]["failed"], row["coverage"]["ignored"]), (5, 3, 1, 1))
        self.assertIn("b/c (object_missing)", row["message"])
        listed = self.vcm("coverage", row["scope_id"], "--reason", "object_missing", "--json",
                          check=0).json()["files"]
        self.assertEqual([file["path"] for file in listed], ["b/c"])
        again = self.map_row(repo, check=3)
        self.assertEqual((again["status"], again["coverage"]), ("already_mapped", row["coverage"]))
        for oid in gone:
            self.bring_back(repo, oid)
        row = self.map_row(repo)
        self.assertEqual((row["status"], row["coverage"]["failed"], row["coverage"]["paged"]),
                         ("remapped", 0, 4))
