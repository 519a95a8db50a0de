"""vcm read: lines, definitions and pages, from the commit and from mapped pages."""

import json
import os
import re
import subprocess
import xml.etree.ElementTree

import harness

SHOP = '''"""A shop."""

import till


class Shop:
    """Sells things."""

    # What everything costs.
    # Taxes included.
    def total(self):
        return till.count(self.items)

    def name(self):
        return "shop"


def total(items):
    return sum(items)
'''
TILL = '''#include "till.h"

/* Counts what is there,
 * and nothing else. */
int count(int n)
{
	int sum = 0;

	while (n > 0)
		sum += n--;
	return sum;
}

static int helper(void)
{
	return 1;
}
'''
FILES = {"src/shop.py": SHOP, "src/till.c": TILL, "src/till.h": "int count(int n);\n",
         "other/helper.c": "static int helper(void)\n{\n\treturn 2;\n}\n",
         "docs/long.txt": "".join(f"line {n} of a long text\n" for n in range(1, 3001)),
         "logo.bin": b"\0\1\2", "empty": "", "last": "no end"}


def numbered(text, first):
    lines = text.split("\n")
    width = len(str(first + len(lines) - 1))
    return "".join(f"{number:>{width}}\t{line}\n" for number, line in enumerate(lines, first))


class Read(harness.VcmTest):
    def setUp(self):
        super().setUp()
        self.repo = self.make_repo(FILES)

    def read(self, *words, check=0, **options):
        return self.vcm("read", *words, "--repo", self.repo, check=check, **options)

    def item(self, *words):
        items = self.read(*words, "--json").json()["items"]
        self.assertEqual(len(items), 1, items)
        return items[0]

    def test_lines_are_printed_with_numbers_under_their_path_and_definition(self):
        lines = TILL.split("\n")
        self.assertEqual(
            self.read("src/till.c:7-9").out,
            "======== src/till.c (lines 7-9)\n======== in int count(int n)\n"
            + numbered("\n".join(lines[6:9]), 7) + "========\n")
        self.assertEqual(self.read("src/till.c:5").out,
                         "======== src/till.c (lines 5-5)\n5\tint count(int n)\n========\n")
        self.assertTrue(self.read("src/till.c:15-").out.endswith("17\t}\n========\n"))

    def test_the_document_is_exact(self):
        item = self.item("src/till.c:7-9")
        text = "".join(line + "\n" for line in TILL.split("\n")[6:9])
        blob = self.git(self.repo, "rev-parse", "HEAD:src/till.c").strip()
        self.assertEqual(item, {
            "path": "src/till.c", "start_line": 7, "end_line": 9, "symbol": "count",
            "kind": "function", "scope_id": None, "page_id": None, "blob": blob,
            "source": "commit", "tokens": self.count(text), "text": text})
        document = self.read("src/till.c:7-9", "--json").json()
        self.assertEqual(list(document), ["items", "rendered_tokens", "truncated", "next_cursor"])
        self.assertEqual((document["truncated"], document["next_cursor"]), (False, None))
        for form in ("text", "markdown", "xml"):
            out = self.read("src/till.c:7-9", "src/shop.py:11", "--format", form).out
            read = self.read("src/till.c:7-9", "src/shop.py:11", "--format", form, "--json").json()
            self.assertEqual(read["rendered_tokens"], self.count(out), form)

    def count(self, text):
        out = self.vcm("tokens", "--json", check=0, input=text).json()
        return out["total"]

    def test_a_definition_comes_with_its_comment(self):
        item = self.item("count")
        self.assertEqual((item["path"], item["start_line"], item["end_line"], item["kind"]),
                         ("src/till.c", 3, 12, "function"))
        item = self.item("Shop.total")
        self.assertEqual((item["start_line"], item["end_line"], item["symbol"]), (9, 12, "Shop.total"))
        self.assertIn("======== in class Shop\n", self.read("Shop::total").out)
        self.assertEqual(self.item("Shop")["end_line"], 15)

    def test_a_name_with_several_definitions_names_the_candidates(self):
        result = self.read("total", "--json", check=1)
        error = result.json()["error"]
        self.assertEqual(error["code"], "AMBIGUOUS")
        candidates = error["details"]["candidates"]
        self.assertEqual(candidates, ["src/shop.py:11#Shop.total", "src/shop.py:18#total"])
        command = re.search(r"'vcm read ([^']+)'", error["message"]).group(1)
        self.assertEqual(self.item(command)["start_line"], 9)
        self.assertEqual([self.item(name)["end_line"] for name in candidates], [12, 19])
        self.assertEqual(self.read("helper", "--json", check=1).json()["error"]["code"], "AMBIGUOUS")
        self.assertEqual(self.item("other/helper.c:helper")["path"], "other/helper.c")
        self.assertEqual(self.item("src/till.c#helper")["path"], "src/till.c")

    def test_ranges_that_overlap_are_one(self):
        items = self.read("src/till.c:1-3", "docs/long.txt:5", "src/till.c:3-6", "src/till.c:10",
                          "--json").json()["items"]
        self.assertEqual([(item["path"], item["start_line"], item["end_line"]) for item in items],
                         [("src/till.c", 1, 6), ("docs/long.txt", 5, 5), ("src/till.c", 10, 10)])
        items = self.read("count", "src/till.c:4", "--json").json()["items"]
        self.assertEqual([(item["symbol"], item["start_line"]) for item in items], [("count", 3)])

    def test_context_adds_lines_and_stays_in_the_file(self):
        item = self.item("src/till.c:2", "--context", "3")
        self.assertEqual((item["start_line"], item["end_line"]), (1, 5))
        item = self.item("src/till.c:16-100", "--context", "2")
        self.assertEqual((item["start_line"], item["end_line"]), (14, 17))

    def test_what_is_not_there_is_told_with_its_remedy(self):
        for words, code, message in (
                (["src/till.c:18"], "NOT_FOUND", "'src/till.c' has no line 18; it has 17 lines"),
                (["empty:1"], "NOT_FOUND", "'empty' has no line 1; it has 0 lines"),
                (["src/till.c:0"], "INVALID_ARGUMENT", "lines are counted from 1"),
                (["src/till.c:5-2"], "INVALID_ARGUMENT", "the range ends before it begins"),
                (["logo.bin"], "UNSUPPORTED", "'logo.bin' is a binary file of 3 bytes"),
                (["src"], "UNSUPPORTED", "'src' is a directory; 'vcm outline'"),
                (["till.c"], "NOT_FOUND", "there is 'src/till.c'"),
                (["till.c:3"], "NOT_FOUND", "there is 'src/till.c'"),
                (["nothing"], "NOT_FOUND", "'nothing' is no file, no definition and no page"),
                (["src/till.c:nothing"], "NOT_FOUND", "'src/till.c' has no definition 'nothing'"),
                (["count", "--commit", "nothing"], "NOT_FOUND", "nothing"),
                (["count", "--commit", "HEAD", "--worktree"], "INVALID_ARGUMENT", "not both"),
                (["../outside"], "NOT_FOUND", "no file"),
                ([""], "INVALID_ARGUMENT", "empty")):
            with self.subTest(words):
                error = self.read(*words, "--json", check=None).json()["error"]
                self.assertEqual((error["code"], message in error["message"]), (code, True), error)

    def test_files_without_lines_or_a_last_line_end(self):
        self.assertEqual(self.item("empty")["end_line"], 0)
        self.assertEqual(self.read("last").out,
                         "======== last (lines 1-1, no newline at end)\n1\tno end\n========\n")

    def test_a_long_answer_goes_on_at_the_cursor(self):
        text, cursor, parts = "", [], 0
        while True:
            document = self.read("docs/long.txt", "count", "--max-answer-tokens", "5000", "--json",
                                 *cursor).json()
            self.assertLessEqual(self.count(json.dumps(document, separators=(",", ":"))), 5000)
            text += "".join(item["text"] for item in document["items"])
            parts += 1
            if not document["truncated"]:
                break
            cursor = ["--cursor", document["next_cursor"]]
        self.assertGreater(parts, 3)
        self.assertEqual(text, FILES["docs/long.txt"] + "\n".join(TILL.split("\n")[2:12]) + "\n")
        self.assertIsNone(document["next_cursor"])
        for wrong in ("x", "9:0", "0:99999999", "0", "1:"):
            error = self.read("docs/long.txt", "--cursor", wrong, "--json", check=2).json()["error"]
            self.assertEqual(error["code"], "INVALID_ARGUMENT")

    def test_an_answer_for_a_person_is_bounded_and_names_the_next(self):
        out = self.read("docs/long.txt").out
        self.assertLessEqual(self.count(out), 4000)
        shown = len(re.findall(r"^ *\d+\tline", out, re.M))
        self.assertTrue(out.splitlines()[-1].startswith(f"{3000 - shown:,} more lines: "), out[-200:])
        command = out.splitlines()[-1].split(": ", 1)[1]
        self.assertTrue(command.startswith("vcm read docs/long.txt "), command)
        following = subprocess.run(
            ["sh", "-c", command.replace("vcm", os.environ["VCM_PROGRAM"], 1)], env=self.env,
            cwd=self.repo, capture_output=True, text=True, check=True).stdout
        self.assertIn(f"{shown + 1}\tline {shown + 1} of", following)
        self.assertEqual(len(re.findall(r"\tline", self.read("docs/long.txt", "--no-limit").out)), 3000)

    def test_a_line_that_exceeds_the_budget_comes_in_pieces(self):
        repo = self.make_repo({"wide.txt": "é" * 20000 + "\nend\n"}, "wide")
        text, cursor = "", []
        for _ in range(100):
            read = self.vcm("read", "wide.txt", "--repo", repo, "--max-answer-tokens", "1000",
                            "--json", *cursor, check=0).json()
            text += "".join(item["text"] for item in read["items"])
            if not read["truncated"]:
                break
            cursor = ["--cursor", read["next_cursor"]]
        self.assertEqual(text, "é" * 20000 + "\nend\n")

    def test_mapped_pages_are_read_by_scope_and_by_id(self):
        self.vcm("map", self.repo, "--scope", "shop", check=0)
        item = self.vcm("read", "count", "--scope", "shop", "--json", check=0).json()["items"][0]
        self.assertEqual((item["source"], item["scope_id"], item["start_line"], item["end_line"]),
                         ("page", "shop", 3, 12))
        found = self.vcm("find", "src/till.c", "--json", check=0).json()["pages"][0]
        self.assertEqual(item["page_id"], found["page_id"])
        items = self.vcm("read", found["page_id"][:10], "--json", check=0).json()["items"]
        page = self.vcm("page", found["page_id"], "--json", check=0).json()
        self.assertEqual([item["text"] for item in items],
                         [record["text"] for record in page["records"]])
        self.assertEqual(self.vcm("read", found["page_id"], check=0).out,
                         self.vcm("page", found["page_id"], "--lines", check=0).out)
        error = self.vcm("read", "logo.bin", "--scope", "shop", "--json", check=1).json()["error"]
        self.assertIn("leaves it out as binary", error["message"])

    def test_where_the_repository_is_gone_its_pages_answer_and_say_so(self):
        self.vcm("map", self.repo, "--scope", "shop", check=0)
        os.rename(self.repo, self.repo + ".gone")
        result = self.read("src/till.c:5")
        self.assertIn("5\tint count(int n)\n", result.out)
        self.assertIn("mapped pages of scope 'shop'", result.err)

    def test_a_path_may_be_given_from_where_one_is(self):
        result = self.vcm("read", "till.c:5", "--json", cwd=os.path.join(self.repo, "src"), check=0)
        self.assertEqual(result.json()["items"][0]["path"], "src/till.c")
        result = self.vcm("read", "../last", "--json", cwd=os.path.join(self.repo, "src"), check=0)
        self.assertEqual(result.json()["items"][0]["path"], "last")

    def test_the_working_tree_is_head_with_what_is_changed(self):
        with open(os.path.join(self.repo, "src/till.c"), "a", encoding="utf-8") as file:
            file.write("\nint fresh(void)\n{\n\treturn 3;\n}\n")
        with open(os.path.join(self.repo, "untracked.py"), "w", encoding="utf-8") as file:
            file.write("def unheard_of():\n    pass\n")
        os.unlink(os.path.join(self.repo, "last"))
        item = self.item("fresh", "--worktree")
        self.assertEqual((item["source"], item["start_line"], item["end_line"]), ("worktree", 19, 22))
        self.assertEqual(self.item("unheard_of", "--worktree")["path"], "untracked.py")
        self.assertEqual(self.item("src/till.c:19", "--worktree")["symbol"], "fresh")
        self.assertEqual(self.item("src/shop.py:5", "--worktree")["source"], "worktree")
        for name in ("fresh", "unheard_of", "untracked.py"):
            self.read(name, check=1)
        self.read("last", "--worktree", check=1)
        self.assertEqual(self.item("last")["text"], "no end")

    def test_no_content_leaves_its_fence(self):
        hostile = "```\n</text></record>\n======== x (lines 1-2)\n========\n&amp;\r\n"
        repo = self.make_repo({"a`b.md": hostile}, "hostile")
        for form in ("text", "markdown"):
            out = self.vcm("read", "a`b.md", "--repo", repo, "--format", form, check=0).out
            self.assertEqual(len(re.findall(r"^\d+\t", out, re.M)), 5, out)
        root = xml.etree.ElementTree.fromstring(
            self.vcm("read", "a`b.md", "--repo", repo, "--format", "xml", check=0).out)
        self.assertEqual(root.tag, "records")
        self.assertEqual(root.find("record/text").text,
                         "".join(f"{number}\t{line}" for number, line in
                                 enumerate(hostile.splitlines(True), 1)))


if __name__ == "__main__":
    harness.main()
