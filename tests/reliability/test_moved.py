"""Repositories and homes that move: what the store refers to is found where it is now."""

import os
import shutil
import time

from clones import CloneTest

DAY = 24 * 60 * 60
ORIGIN = "https://example.com/team/tool.git"


class Moved(CloneTest):
    def setUp(self):
        super().setUp()
        self.files = {f"src/f{i}.c": f"int f{i};\n" * 200 for i in range(4)}

    def evict_all(self):
        self.vcm("evict", "--all", "--to", "evicted", "--json", check=0)

    def move(self, path, to):
        os.rename(path, to)
        return to

    def place(self, scope):
        scopes = self.vcm("scopes", "--json", check=0).json()["scopes"]
        [found] = [entry["repo_root"] for entry in scopes if entry["scope_id"] == scope]
        return found

    def test_the_pages_of_a_repository_that_moved_are_rebuilt_after_it_was_mapped_there(self):
        repo = self.make_repo(self.files, origin=ORIGIN)
        scope = self.row(repo)["scope_id"]
        self.evict_all()
        moved = self.move(repo, os.path.join(self.tmp, "elsewhere"))
        page = self.vcm("pages", "--json", check=0).json()["pages"][0]["page_id"]
        self.assertEqual(self.error_of("page", page, check=1)["code"], "NOT_FOUND")
        self.assertEqual(self.row(moved)["status"], "already_mapped")
        self.assertEqual(self.place(scope), moved)
        self.assertEqual(self.texts(scope), self.files)
        self.vcm("verify", "--deep", check=0)

    def test_a_row_of_a_submodule_moves_with_its_repository(self):
        inner = self.make_repo(self.files, name="inner")
        repo = self.make_repo({"a.txt": "a\n"}, origin=ORIGIN)
        self.git(repo, "submodule", "--quiet", "add", inner, "sub")
        self.commit(repo, {".colony/repo_map.yaml":
                           "schema_version: 1\nsources:\n  - {name: in, type: git_repo, submodule: sub}\n"})
        scope = self.row(repo)["scope_id"]
        self.evict_all()
        moved = self.move(repo, os.path.join(self.tmp, "elsewhere"))
        self.assertEqual(self.row(moved)["status"], "already_mapped")
        self.assertEqual(self.texts(scope), self.files)

    def test_a_second_clone_takes_nothing_over_while_the_first_is_there(self):
        repo = self.make_repo(self.files, origin=ORIGIN)
        scope = self.row(repo)["scope_id"]
        other = os.path.join(self.tmp, "other")
        shutil.copytree(repo, other, symlinks=True)
        self.assertEqual(self.row(other)["status"], "already_mapped")
        self.assertEqual(self.place(scope), repo)

    def test_another_repository_at_the_old_place_does_not_keep_it(self):
        repo = self.make_repo(self.files, origin=ORIGIN)
        scope = self.row(repo)["scope_id"]
        self.evict_all()
        moved = self.move(repo, os.path.join(self.tmp, "elsewhere"))
        self.make_repo({"b.txt": "b\n"})
        self.assertEqual(self.row(moved)["status"], "already_mapped")
        self.assertEqual(self.texts(scope), self.files)

    def test_a_home_that_moved_finds_its_clones(self):
        path, url = self.remote_repo(self.files)
        scope = self.row(url)["scope_id"]
        self.evict_all()
        shutil.rmtree(path)
        self.home = self.move(self.home, os.path.join(self.tmp, "new-home"))
        self.env["VCM_HOME"] = self.home
        [clone] = self.clones()
        self.assertEqual(self.place(scope), clone)
        self.assertEqual(self.texts(scope), self.files)
        self.vcm("verify", "--deep", check=0)

    def test_a_home_that_moved_keeps_the_clones_that_it_needs(self):
        _, url = self.remote_repo(self.files)
        scope = self.row(url)["scope_id"]
        self.evict_all()
        self.home = self.move(self.home, os.path.join(self.tmp, "new-home"))
        self.env["VCM_HOME"] = self.home
        [clone] = self.clones()
        os.utime(os.path.join(clone, "vcm-clone"), (time.time() - 100 * DAY,) * 2)
        document = self.vcm("gc", "--json", check=0).json()
        self.assertEqual((document["clones_dropped"], document["clones_kept"]), (0, 1))
        self.assertEqual(self.texts(scope), self.files)

    def test_a_damaged_home_that_moved_maps_its_clones_again(self):
        _, url = self.remote_repo(self.files)
        scope = self.row(url)["scope_id"]
        self.home = self.move(self.home, os.path.join(self.tmp, "new-home"))
        self.env["VCM_HOME"] = self.home
        os.truncate(os.path.join(self.home, "store/data.mdb"), 8192)
        self.row(self.make_repo({"a.txt": "a\n"}))
        self.assertEqual(self.texts(scope), self.files)


if __name__ == "__main__":
    import unittest
    unittest.main()
