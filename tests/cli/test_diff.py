"""vcm diff: what changed between two commits, by definition, file and page."""

import harness

BODY = "".join(f"    value = step_{n}(value)\n" for n in range(6))


class Diff(harness.VcmTest):
    def setUp(self):
        super().setUp()
        self.repo = self.make_repo({
            "shop.py": f"class Shop:\n    def total(self):\n        return 1\n\n    def name(self):\n"
                       f"        return 2\n\n\ndef old(value):\n{BODY}    return value\n",
            "moves.py": f"def wanders(other):\n{BODY.replace('value', 'other')}    return other\n",
            "gone.py": "def leaves():\n    return 'nothing of it stays here'\n",
            "notes.txt": "a\n", "same.py": "def same():\n    pass\n", "paper.txt": "kept as it is\n"})

    def change(self):
        self.commit(self.repo, {
            "shop.py": f"class Shop:\n    def total(self):\n        return 7\n\n    def name(self):\n"
                       f"        return 2\n\n\ndef new(value):\n{BODY}    return value\n\n\n"
                       "def fresh():\n    return 'made from nothing at all'\n",
            "notes.txt": "b\n", "docs/paper.txt": "kept as it is\n",
            "lib/there.py": f"def wanders(other):\n{BODY.replace('value', 'other')}    return other\n"},
            remove=("moves.py", "gone.py", "paper.txt"))

    def diff(self, *words, check=0):
        return self.vcm("diff", *words, "--json", cwd=self.repo, check=check).json()

    def rows(self, *words):
        return [(row["change"], row["path"], row["symbol"]) for row in self.diff(*words)["changes"]]

    def test_changes_are_told_by_definition(self):
        self.change()
        document = self.diff("HEAD~1..HEAD")
        self.assertEqual(list(document), ["from", "to", "by", "files", "changes", "total"])
        self.assertEqual(document["to"], self.git(self.repo, "rev-parse", "HEAD").strip())
        self.assertEqual(self.rows("HEAD~1.."), [
            ("added", "docs/paper.txt", None), ("removed", "gone.py", "leaves"),
            ("moved", "lib/there.py", "wanders"), ("changed", "notes.txt", None),
            ("removed", "paper.txt", None), ("changed", "shop.py", "Shop.total"),
            ("renamed", "shop.py", "new"), ("added", "shop.py", "fresh")])
        rows = {row["symbol"]: row for row in document["changes"]}
        self.assertEqual((rows["wanders"]["old_path"], rows["wanders"]["old_line"]), ("moves.py", 1))
        self.assertEqual((rows["new"]["old_symbol"], rows["new"]["old_path"]), ("old", None))
        self.assertEqual((rows["Shop.total"]["line"], rows["Shop.total"]["end_line"],
                          rows["Shop.total"]["kind"]), (2, 3, "method"))

    def test_changes_are_told_by_file_with_renames_of_the_same_content(self):
        self.change()
        self.assertEqual([(change, path) for change, path, _ in self.rows("HEAD~1..HEAD", "--files")],
                         [("renamed", "docs/paper.txt"), ("removed", "gone.py"),
                          ("renamed", "lib/there.py"), ("changed", "notes.txt"),
                          ("changed", "shop.py")])
        self.assertEqual(self.rows("HEAD..HEAD"), [])
        out = self.vcm("diff", "HEAD~1..HEAD", cwd=self.repo, check=0).out.splitlines()
        self.assertIn("moved lib/there.py:1 function wanders (was moves.py)", out)
        self.assertIn("renamed shop.py:9 function new (was old)", out)

    def test_pages_of_changed_files_are_stale_until_they_are_mapped_again(self):
        self.vcm("map", self.repo, "--scope", "shop", check=0)
        self.change()
        rows = self.diff("HEAD~1..HEAD", "--pages")["changes"]
        self.assertEqual({row["path"] for row in rows},
                         {"gone.py", "moves.py", "notes.txt", "paper.txt", "shop.py"})
        pages = {page["page_id"] for page in self.vcm("pages", "--json", check=0).json()["pages"]}
        self.assertEqual({row["page_id"] for row in rows} - pages, set())
        self.assertEqual({row["scope_id"] for row in rows}, {"shop"})
        self.vcm("map", self.repo, "--scope", "shop", check=0)
        self.assertEqual(self.diff("HEAD~1..HEAD", "--pages")["changes"], [])

    def test_a_listing_goes_on_at_its_cursor(self):
        self.change()
        rows, cursor = [], []
        while True:
            answer = self.diff("HEAD~1..HEAD", "--limit", "3", *cursor)
            rows += [(row["change"], row["path"], row["symbol"]) for row in answer["changes"]]
            if not answer["truncated"]:
                break
            cursor = ["--cursor", answer["next_cursor"]]
        self.assertEqual(rows, self.rows("HEAD~1..HEAD"))
        self.assertEqual(answer["total"], len(rows))

    def test_what_is_no_range_is_told(self):
        for words, code in ((["HEAD...HEAD"], "INVALID_ARGUMENT"), (["nothing..HEAD"], "NOT_FOUND"),
                            (["HEAD..nothing"], "NOT_FOUND"),
                            (["HEAD", "--files", "--pages"], "INVALID_ARGUMENT"),
                            (["HEAD..HEAD", "/nowhere"], "NOT_FOUND")):
            self.assertEqual(self.diff(*words, check=None)["error"]["code"], code, words)


if __name__ == "__main__":
    harness.main()
