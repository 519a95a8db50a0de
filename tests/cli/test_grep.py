"""vcm grep: what it finds, where, in which order, and that it says when that is all."""

import os
import random
import re
import subprocess
import unittest

import harness

TILL = """class Till:
    def count(self):
        return self.coins  # needle one

    def empty(self):
        self.coins = 0


def needle():
    pass
"""
FILES = {
    "src/till.py": TILL,
    "src/main.c": "int total;\n\nint main(void)\n{\n\treturn needle(total); /* x */\n}\n",
    "docs/a.md": "# A\n\nneedle here\nNEEDLE there\n",
    "b.txt": "no match\nneedles\n",
    "bin": b"needle\0binary\n",
    "link": harness.Symlink("b.txt"),
    "windows.txt": b"one needle\r\ntwo\r\n",
    "latin.txt": b"caf\xe9 needle\n",
}


def places(document):
    return [(m["path"], m["line"], m["column"]) for m in document["matches"]]


class Commit(harness.VcmTest):
    def setUp(self):
        super().setUp()
        self.repo = self.make_repo(FILES)

    def grep(self, *words, status=0):
        return self.vcm("grep", *words, "--repo", self.repo, "--json", check=status).json()

    def test_matches_come_by_path_with_line_column_and_definition(self):
        found = self.grep("needle")
        self.assertEqual(places(found), [
            ("b.txt", 2, 1), ("docs/a.md", 3, 1), ("latin.txt", 1, 8), ("src/main.c", 5, 9),
            ("src/till.py", 3, 30), ("src/till.py", 9, 5), ("windows.txt", 1, 5)])
        self.assertEqual([m["symbol"] for m in found["matches"]],
                         [None, None, None, "main", "Till.count", "needle", None])
        self.assertEqual((found["files"], found["total"], found["complete"], found["truncated"]),
                         (6, 7, True, False))
        first = found["matches"][0]
        self.assertEqual((first["scope_id"], first["page_id"], first["text"]),
                         (None, None, "needles"))
        self.assertEqual(found["matches"][2]["text"], "caf\ufffd needle")
        self.assertEqual(found["matches"][-1]["text"], "one needle")

    def test_options_are_those_of_ripgrep(self):
        self.assertEqual(self.grep("needle", "-i")["total"], 8)
        self.assertEqual(places(self.grep("needle", "-w", "--path", "*.txt")),
                         [("latin.txt", 1, 8), ("windows.txt", 1, 5)])
        self.assertEqual(places(self.grep("total);", "-F")), [("src/main.c", 5, 16)])
        self.assertEqual(places(self.grep(r"return \w+\(total\)")), [("src/main.c", 5, 2)])
        listed = self.grep("needle", "-l")
        self.assertEqual([m["path"] for m in listed["matches"]],
                         ["b.txt", "docs/a.md", "latin.txt", "src/main.c", "src/till.py",
                          "windows.txt"])
        self.assertEqual((listed["total"], listed["files"]), (6, 6))
        around = self.grep("return needle", "-C", "2")["matches"][0]
        self.assertEqual((around["before"], around["after"]), (["int main(void)", "{"], ["}"]))

    def test_paths_are_chosen_by_gitignore_patterns(self):
        self.assertEqual({m["path"] for m in self.grep("needle", "--path", "src/")["matches"]},
                         {"src/main.c", "src/till.py"})
        self.assertEqual({m["path"] for m in self.grep(
            "needle", "--path", "src/**", "--path", "!*.c")["matches"]}, {"src/till.py"})
        self.assertEqual(self.grep("needle", "--path", "nowhere/")["total"], 0)

    def test_nothing_found_is_no_failure(self):
        found = self.grep("absent")
        self.assertEqual((found["matches"], found["total"], found["complete"]), ([], 0, True))
        self.assertIn("complete", self.vcm("grep", "absent", "--repo", self.repo, check=0).out)

    def test_a_limit_leaves_the_count_complete(self):
        found = self.grep("needle", "--limit", "2")
        self.assertEqual(len(found["matches"]), 2)
        self.assertEqual((found["total"], found["files"], found["truncated"], found["complete"]),
                         (7, 6, True, True))

    def test_a_cursor_goes_on_where_the_answer_ended(self):
        for where in (("--repo", self.repo), self.mapped()):
            whole = self.vcm("grep", "needle", *where, "--json", check=0).json()
            parts, cursor = [], []
            while True:
                part = self.vcm("grep", "needle", *where, "--json", "--limit", "2", *cursor,
                                check=0).json()
                parts += part["matches"]
                self.assertEqual(part["total"], whole["total"])
                if not part["next_cursor"]:
                    break
                cursor = ["--cursor", part["next_cursor"]]
            self.assertEqual(parts, whole["matches"])

    def mapped(self):
        self.vcm("map", self.repo, "--scope", "shop", check=0)
        return ("--scope", "shop")

    def test_the_text_names_path_and_definition_once(self):
        text = self.vcm("grep", "self.coins", "--repo", self.repo, check=0).out
        self.assertEqual(text, "src/till.py\n in Till.count\n3: return self.coins  # needle one\n"
                               " in Till.empty\n6: self.coins = 0\n"
                               "2 matches in 1 file, complete\n")
        text = self.vcm("grep", "def", "-C", "1", "--repo", self.repo, check=0).out
        self.assertEqual(text.count("src/till.py"), 1)
        self.assertIn("1- class Till:\n2:     def count(self):\n3-         return", text)
        self.assertIn("\n--\n", text)
        self.assertEqual(self.vcm("grep", "needle", "-l", "--repo", self.repo, "-q", check=0).out,
                         "b.txt\ndocs/a.md\nlatin.txt\nsrc/main.c\nsrc/till.py\nwindows.txt\n")

    def test_a_terminal_is_not_controlled_by_a_line(self):
        repo = self.make_repo({"evil.txt": b"needle \x1b[2J\x07 red\n"}, "evil")
        text = self.vcm("grep", "needle", "--repo", repo, check=0).out
        self.assertNotIn("\x1b", text)

    def test_a_long_line_is_cut_around_its_match(self):
        repo = self.make_repo({"min.js": "a" * 100000 + "needle" + "b" * 100000 + "\n"}, "long")
        match = self.vcm("grep", "needle", "--repo", repo, "--json", check=0).json()["matches"][0]
        self.assertEqual(match["column"], 100001)
        self.assertLess(len(match["text"]), 600)
        self.assertIn("aneedleb", match["text"])

    def test_another_commit_is_searched(self):
        self.commit(self.repo, {"b.txt": "gone\n"})
        self.assertEqual(self.grep("needles")["total"], 0)
        self.assertEqual(self.grep("needles", "--commit", "HEAD~1")["total"], 1)

    def test_the_working_tree_is_searched(self):
        self.write(self.repo, {"b.txt": "changed needle\n", "new.txt": "new needle\n",
                               ".gitignore": "ignored.txt\n", "ignored.txt": "needle\n"})
        os.unlink(os.path.join(self.repo, "windows.txt"))
        found = self.grep("needle", "--worktree", "--path", "*.txt")
        self.assertEqual([(m["path"], m["text"]) for m in found["matches"]],
                         [("b.txt", "changed needle"), ("latin.txt", "caf\ufffd needle"),
                          ("new.txt", "new needle")])
        self.assertEqual(self.grep("changed needle")["total"], 0)

    def test_a_value_of_one_line_encloses_nothing(self):
        self.assertEqual([m["symbol"] for m in self.grep("int total|total\\)")["matches"]],
                         [None, "main"])

    def test_a_directory_restricts_the_search(self):
        found = self.vcm("grep", "needle", "--repo", os.path.join(self.repo, "src"), "--json",
                         check=0).json()
        self.assertEqual(found["files"], 2)

    def test_a_missing_object_is_a_gap(self):
        blob = self.git(self.repo, "rev-parse", "HEAD:b.txt").strip()
        os.unlink(os.path.join(self.repo, ".git/objects", blob[:2], blob[2:]))
        found = self.grep("needle")
        self.assertFalse(found["complete"])
        self.assertEqual(found["incomplete"],
                         [{"file_path": "b.txt", "reason": "object_missing"}])
        self.assertEqual(found["total"], 6)
        text = self.vcm("grep", "needle", "--repo", self.repo, check=0).out
        self.assertNotIn("complete", text)
        self.assertIn("not searched: b.txt", text)


class Refused(harness.VcmTest):
    def setUp(self):
        super().setUp()
        self.repo = self.make_repo({"a.txt": "x" * 4000 + "!\n"})

    def refused(self, *words, status=2):
        result = self.vcm("grep", *words, "--repo", self.repo, "--json", check=status)
        return result.json()["error"]

    def test_a_pattern_that_is_none_is_told_with_its_column(self):
        error = self.refused("a(b")
        self.assertEqual(error["code"], "INVALID_ARGUMENT")
        self.assertIn("column 4", error["message"])

    def test_a_pattern_that_explodes_ends_and_is_named(self):
        error = self.refused("(x+x+)+[yz]", status=1)
        self.assertEqual(error["code"], "TIMEOUT")
        self.assertIn("(x+x+)+[yz]", error["message"])

    def test_other_bad_input(self):
        self.assertEqual(self.refused("a", "--path", "[")["code"], "INVALID_ARGUMENT")
        self.assertEqual(self.refused("a", "--commit", "nowhere", status=1)["code"], "NOT_FOUND")
        self.assertEqual(self.refused("a", "--scope", "b")["code"], "INVALID_ARGUMENT")
        self.assertEqual(self.refused("a\nb")["code"], "INVALID_ARGUMENT")


class Pages(harness.VcmTest):
    def setUp(self):
        super().setUp()
        self.long = "".join(f"line {i} of many\n" for i in range(1, 3000)) + "needle at the end\n"
        self.repo = self.make_repo({**FILES, "long.txt": self.long,
                                    "one.txt": "a " * 20000 + "split needle " + "b " * 20000})
        self.vcm("map", self.repo, "--scope", "shop", check=0)

    def test_pages_give_what_the_commit_gives(self):
        for pattern in ("needle", r"^line \d+5 of", "split ne+dle", r"\bx\b"):
            pages = self.vcm("grep", pattern, "--scope", "shop", "--json", check=0).json()
            commit = self.vcm("grep", pattern, "--repo", self.repo, "--json", check=0).json()
            key = lambda m: (m["path"], m["line"], m["column"], m["symbol"], m["text"])
            self.assertEqual(sorted(map(key, pages["matches"]), key=str),
                             sorted(map(key, commit["matches"]), key=str))
            self.assertEqual((pages["total"], pages["files"], pages["complete"]),
                             (commit["total"], commit["files"], True))
            for match in pages["matches"]:
                self.assertEqual(match["scope_id"], "shop")
                found = self.vcm("find", f"{match['path']}:{match['line']}", "--scope", "shop",
                                 "--json", check=0).json()
                self.assertIn(match["page_id"], [p["page_id"] for p in found["pages"]])

    def test_evicted_pages_are_searched_and_stay_evicted(self):
        whole = self.vcm("grep", "needle", "--scope", "shop", "--json", check=0).json()
        for to in ("compressed", "evicted"):
            self.vcm("evict", "--all", "--to", to, check=0)
            before = self.vcm("stat", "--json", check=0).json()
            again = self.vcm("grep", "needle", "--scope", "shop", "--json", check=0).json()
            after = self.vcm("stat", "--json", check=0).json()
            self.assertEqual(again, whole)
            self.assertEqual(after["pages"]["resident"], 0)
            self.assertEqual((after["pages"], after["faults"]), (before["pages"], before["faults"]))

    def test_the_order_is_that_of_the_page_table(self):
        found = self.vcm("grep", "needle", "--scope", "shop", "--json", check=0).json()
        pages = self.vcm("pages", "--scope", "shop", "--json", check=0).json()["pages"]
        order = [page["page_id"] for page in pages]
        seen = [order.index(match["page_id"]) for match in found["matches"]]
        self.assertEqual(seen, sorted(seen))

    def test_several_scopes_are_searched_by_their_ids(self):
        other = self.make_repo({"z.txt": "needle\n"}, "other")
        self.vcm("map", other, "--scope", "alpha", check=0)
        found = self.vcm("grep", "needle", "--scope", "shop", "--scope", "alpha", "--scope", "shop",
                         "--json", check=0).json()
        self.assertEqual([m["scope_id"] for m in found["matches"]], ["alpha"] + ["shop"] * 9)
        everything = self.vcm("grep", "needle", "--all-scopes", "--json", check=0).json()
        self.assertEqual(everything["total"], 10)

    def test_pages_whose_source_is_gone_are_gaps(self):
        self.vcm("evict", "--all", "--to", "evicted", check=0)
        os.rename(self.repo, self.repo + ".away")
        found = self.vcm("grep", "needle", "--scope", "shop", "--json", check=0).json()
        self.assertFalse(found["complete"])
        self.assertEqual(found["total"], 0)
        self.assertIn("b.txt", [gap["file_path"] for gap in found["incomplete"]])


class Peers(harness.VcmTest):
    """Random patterns over random texts: git grep -P finds the same lines."""

    PARTS = ["a", "b", "ab", "foo", ".", "[ab]", "[^a]", r"\s", r"\w", "^", "$", r"\b", "(a|b)",
             "*", "+", "?", "|", r"\S", "(?:o|b)", "{2}", r"\.", "(?=a)"]

    def test_git_grep_finds_the_same(self):
        rng = random.Random(19)
        files = {f"f{i}.txt": "".join(rng.choice("aabbo. \n\n_foo") for _ in range(rng.randrange(300)))
                 for i in range(20)}
        repo = self.make_repo(files)
        tried = 0
        while tried < 30:
            pattern = "".join(rng.choice(self.PARTS) for _ in range(rng.randrange(1, 6)))
            options = ["-i"] if rng.random() < 0.3 else []
            try:
                re.compile(pattern)
            except re.error:
                continue
            peer = subprocess.run(["git", "-C", repo, "grep", "-nPI", *options, "-e", pattern,
                                   "HEAD"], capture_output=True, text=True)
            if peer.returncode > 1:
                continue
            tried += 1
            expected = [tuple(line.split(":")[1:3]) for line in peer.stdout.split("\n") if line]
            found = self.vcm("grep", *options, "--repo", repo, "--json", "--", pattern, check=0).json()
            self.assertEqual([(m["path"], str(m["line"])) for m in found["matches"]], expected,
                             (pattern, options))


if __name__ == "__main__":
    unittest.main()
