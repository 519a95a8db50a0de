"""vcm coverage lists every path with what became of it; vcm find names the page that holds a file."""

import os

import paging
import pdf
from harness import Symlink


class Ledger(paging.PagingTest):
    def coverage(self, *args, check=0):
        return self.vcm("coverage", "--json", *args, check=check).json()

    def test_every_tracked_path_is_listed_once_by_its_bytes_with_its_outcome(self):
        repo = self.make_repo({
            "z.txt": "last\n", "a/b.txt": "text\n", "a.txt": "before a/\n", "bin": b"\0\1",
            "link": Symlink("z.txt"), "no.log": "ignored\n", ".gitignore": "*.log\n",
            "long.txt": "".join(f"line {n}\n" for n in range(5000)),
            b"lat\xe9n".decode("utf-8", "surrogateescape"): "x\n",
        })
        row = self.map_row(repo)
        document = self.coverage(row["scope_id"])
        self.assertEqual(list(document), ["scope_id", "commit", "coverage", "files"])
        self.assertEqual(document["coverage"], row["coverage"])
        self.assertEqual(document["commit"], row["commit"])
        outcomes = {file["path"]: file["outcome"] for file in document["files"]}
        self.assertEqual([file["path"].encode() for file in document["files"]],
                         sorted(file["path"].encode() for file in document["files"]))
        self.assertEqual(len(outcomes), len(document["files"]))
        self.assertEqual(outcomes, {
            ".gitignore": "paged", "a.txt": "paged", "a/b.txt": "paged", "bin": "binary",
            "lat\\xe9n": "paged", "link": "symlink", "long.txt": "paged", "no.log": "ignored",
            "z.txt": "paged"})
        for outcome in paging.OUTCOMES:
            listed = self.coverage(row["scope_id"], "--reason", outcome)["files"]
            self.assertEqual(len(listed), row["coverage"][outcome], outcome)
            self.assertEqual([file for file in document["files"] if file["outcome"] == outcome],
                             listed)

    def test_a_failure_comes_with_its_reason(self):
        repo = self.make_repo({"gone.txt": "gone\n", "here.txt": "here\n"})
        blob = self.git(repo, "rev-parse", "HEAD:gone.txt")
        os.unlink(os.path.join(repo, ".git/objects", blob[:2], blob[2:]))
        row = self.map_row(repo, check=3)
        gone = [{"path": "gone.txt", "outcome": "failed", "reason": "object_missing"}]
        here = [{"path": "here.txt", "outcome": "paged", "reason": None}]
        self.assertEqual(self.coverage(row["scope_id"])["files"], gone + here)
        self.assertEqual(self.coverage(row["scope_id"], "--reason", "object_missing")["files"], gone)
        self.assertEqual(self.coverage(row["scope_id"], "--reason", "object_damaged")["files"], [])
        text = self.vcm("coverage", row["scope_id"], check=0).out
        self.assertEqual(text.splitlines()[:2], ["failed       gone.txt  (object_missing)",
                                                 "paged        here.txt"])
        self.assertIn("2 files tracked: 1 paged, 1 failed", text)

    def test_every_reason_is_taken_by_its_name_and_listed_by_help(self):
        repo = self.make_repo({"a.txt": "a\n"})
        scope = self.map_row(repo)["scope_id"]
        known = self.coverage(scope, "--reason", "because", check=2)["error"]["message"]
        known = known.split(" is one of ")[1].split(", not '")[0].split(", ")
        self.assertEqual(known[:len(paging.OUTCOMES)], paging.OUTCOMES)
        self.assertLessEqual({"object_missing", "lfs_corrupt", "corrupt", "no_text_layer",
                              "no_extractor", "unreadable"}, set(known))
        self.assertEqual(len(set(known)), len(known))
        listed = " ".join(self.vcm("coverage", "--help", check=0).out.split())
        self.assertIn(", ".join(known), listed)
        for word in known:
            for name in (word, word.replace("_", " ")):
                found = self.coverage(scope, "--reason", name)["files"]
                self.assertEqual(bool(found), word == "paged", name)

    def test_a_reason_of_several_words_is_taken_as_json_has_it_and_as_one_word(self):
        repo = self.make_repo({
            ".colony/repo_map.yaml": "schema_version: 1\nsources:\n"
                                     "- {name: default, type: literature, start_dir: papers}\n",
            "papers/image.pdf": pdf.make([[], []]), "papers/a.txt": "Text.\n"})
        row = self.map_row(repo, check=3)
        expected = [{"path": "papers/image.pdf", "outcome": "failed", "reason": "no text layer"}]
        for name in ("no_text_layer", "no text layer"):
            self.assertEqual(self.coverage(row["scope_id"], "--reason", name)["files"], expected)

    def test_what_to_do_is_said_once_for_each_reason_that_occurs(self):
        repo = self.make_repo({"a": "text\n", "b1": b"\0", "b2": b"\0", "link": Symlink("a")})
        scope = self.map_row(repo)["scope_id"]
        lines = self.vcm("coverage", scope, check=0).out.splitlines()
        remedies = [line for line in lines if line.startswith("binary: ")]
        self.assertEqual(len(remedies), 1, lines)
        self.assertIn("binary_policy: include", remedies[0])
        self.assertEqual(len(lines), 4 + 1 + 1, lines)
        listed = self.vcm("coverage", scope, "--reason", "binary", check=0).out.splitlines()
        self.assertEqual(listed[2:], remedies)
        quiet = self.vcm("coverage", scope, "--reason", "binary", "-q", check=0).out.splitlines()
        self.assertEqual(len(quiet), 2, quiet)

    def test_an_unknown_scope_or_reason_is_refused(self):
        self.assertEqual(self.coverage("nothing-here", check=1)["error"]["code"], "NOT_FOUND")
        self.map(self.make_repo({"a": "a\n"}), "--scope", "sample")
        error = self.coverage("sample", "--reason", "because", check=2)["error"]
        self.assertEqual(error["code"], "INVALID_ARGUMENT")
        self.assertEqual(self.coverage("nothing-here", check=1)["error"]["code"], "NOT_FOUND")


class Find(paging.PagingTest):
    def find(self, *args, check=0):
        return self.vcm("find", "--json", *args, check=check).json()

    def test_every_line_is_found_in_the_page_that_holds_it(self):
        lines = [f"line {n} {'x' * (n % 50)}\n" for n in range(1, 3000)]
        self.map(self.make_repo({"d/long.txt": "".join(lines), "d/short.txt": "s\n"}),
                 "--scope", "sample")
        whole = self.find("d/long.txt")
        self.assertEqual(list(whole), ["path", "line", "pages"])
        self.assertEqual((whole["path"], whole["line"]), ("d/long.txt", None))
        self.assertGreater(len(whole["pages"]), 2)
        self.assertEqual([entry["part"] for entry in whole["pages"]],
                         list(range(1, whole["pages"][0]["parts"] + 1)))
        for line in (1, 2, 777, 1500, 2999):
            found = self.find(f"./d/long.txt:{line}", "--scope", "sample")
            self.assertEqual((found["path"], found["line"]), ("d/long.txt", line))
            self.assertEqual(len(found["pages"]), 1)
            entry = found["pages"][0]
            self.assertIn(entry, whole["pages"])
            page = self.page(entry["page_id"], "--scope", entry["scope_id"],
                             "--seq", str(entry["seq"]))
            record = page["records"][entry["record"]]
            self.assertEqual(record["path"], "d/long.txt")
            self.assertEqual((record["start_line"], record["end_line"], record["part"]),
                             (entry["start_line"], entry["end_line"], entry["part"]))
            self.assertEqual(record["text"].splitlines(True)[line - record["start_line"]],
                             lines[line - 1])

    def test_a_line_that_is_cut_is_found_in_all_its_pages(self):
        self.map(self.make_repo({"one": "x" * 60000 + "\nlast\n"}))
        found = self.find("one:1")["pages"]
        self.assertGreater(len(found), 2)
        self.assertEqual(found, self.find("one")["pages"])
        self.assertEqual(len(self.find("one:2")["pages"]), 1)

    def test_a_name_that_ends_like_a_line_is_a_name_first(self):
        self.map(self.make_repo({"a:2": "one\n", "a": "one\ntwo\nthree\n"}))
        self.assertEqual(self.find("a:2")["path"], "a:2")
        self.assertEqual(self.find("a:3")["path"], "a")
        self.assertEqual(self.find("a:2:1")["line"], 1)

    def test_all_scopes_are_searched_unless_one_is_named(self):
        repo = self.make_repo({"a": "a\n"})
        for scope in ("sample-one", "sample-two"):
            self.map(repo, "--scope", scope)
        self.assertEqual([entry["scope_id"] for entry in self.find("a")["pages"]],
                         ["sample-one", "sample-two"])
        self.assertEqual([entry["scope_id"] for entry in
                          self.find("a", "--scope", "sample-t")["pages"]], ["sample-two"])
        self.assertIn("sample-one", self.vcm("find", "a:1", check=0).out)

    def test_what_is_not_there_is_not_found_with_the_reason(self):
        self.assertEqual(self.find("a", check=1)["error"]["code"], "NOT_FOUND")
        self.map(self.make_repo({"a": "one\n", "bin": b"\0"}), "--scope", "sample")
        for path, word in (("b", "no mapped scope"), ("a:2", "has no line 2"),
                           ("bin", "as binary"), ("bin:1", "as binary"), ("a:0", "no mapped")):
            error = self.find(path, check=1)["error"]
            self.assertEqual(error["code"], "NOT_FOUND")
            self.assertIn(word, error["message"])
        error = self.find("a", "--scope", "other-one", check=1)["error"]
        self.assertEqual(error["code"], "NOT_FOUND")
