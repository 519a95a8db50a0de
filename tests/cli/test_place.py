"""Which scopes a command looks at when it names none, and patterns that select paths."""

import os

import harness


class Place(harness.VcmTest):
    def setUp(self):
        super().setUp()
        self.one = self.make_repo({"a.txt": "one\n", "d/b.txt": "x\n", "d/c.md": "y\n"}, name="one")
        self.two = self.make_repo({"a.txt": "two\n"}, name="two")
        self.other = self.make_repo({"a.txt": "other\n"}, name="other")
        self.vcm("map", self.one, "--scope", "one", "--flush-threshold", "1", check=0)
        self.vcm("map", self.two, "--scope", "two", check=0)

    def scopes(self, *words, cwd):
        pages = self.vcm(*words, "--json", cwd=cwd, check=0).json()["pages"]
        return sorted({page["scope_id"] for page in pages})

    def test_a_mapped_repository_is_looked_at_first(self):
        for words in (["pages"], ["find", "a.txt"]):
            for cwd in (self.one, os.path.join(self.one, "d")):
                self.assertEqual(self.scopes(*words, cwd=cwd), ["one"])
                self.assertEqual(self.scopes(*words, "--all-scopes", cwd=cwd), ["one", "two"])
                self.assertEqual(self.scopes(*words, "--scope", "two", cwd=cwd), ["two"])
            self.assertEqual(self.scopes(*words, cwd=self.two), ["two"])

    def test_elsewhere_all_scopes_are_looked_at(self):
        for cwd in (self.tmp, self.other):
            for words in (["pages"], ["find", "a.txt"]):
                self.assertEqual(self.scopes(*words, cwd=cwd), ["one", "two"])

    def test_a_clone_of_a_mapped_repository_is_the_same_repository(self):
        for name in ("here", "there"):
            self.git(self.tmp, "clone", "--quiet", self.other, name)
        self.vcm("map", os.path.join(self.tmp, "here"), "--scope", "clone", check=0)
        self.assertEqual(self.scopes("pages", cwd=os.path.join(self.tmp, "there")), ["clone"])

    def test_the_count_is_of_what_is_looked_at(self):
        document = self.vcm("pages", "--json", "--limit", "1", cwd=self.one, check=0).json()
        self.assertEqual(document["total"], 3)

    def test_a_path_is_a_gitignore_pattern(self):
        for pattern, files in (("*.md", ["d/c.md"]), ("d", ["d/b.txt", "d/c.md"]),
                               ("d/", ["d/b.txt", "d/c.md"]), ("/*.txt", ["a.txt"]),
                               ("**/b.*", ["d/b.txt"]), ("d/b.txt", ["d/b.txt"]),
                               ("./d/b.txt", ["d/b.txt"]), ("nothing*", [])):
            pages = self.vcm("pages", "--path", pattern, "--json", cwd=self.one, check=0).json()
            self.assertEqual([name for page in pages["pages"] for name in page["files"]], files,
                             pattern)
        self.assertIn("'nothing*' matches no file",
                      self.vcm("pages", "--path", "nothing*", cwd=self.one, check=0).out)
