"""vcm outline: what files define, with lines and exact tokens."""

import json
import os

import harness
import test_read


class Outline(harness.VcmTest):
    def setUp(self):
        super().setUp()
        self.repo = self.make_repo(test_read.FILES)

    def outline(self, *words, check=0):
        return self.vcm("outline", *words, "--repo", self.repo, check=check)

    def count(self, text):
        return self.vcm("tokens", "--json", check=0, input=text).json()["total"]

    def test_definitions_have_their_lines_and_tokens(self):
        document = self.outline("src/till.c", "--json").json()
        self.assertEqual(list(document), ["files", "total", "others", "rendered_tokens", "truncated",
                                          "next_cursor"])
        file = document["files"][0]
        lines = test_read.TILL.splitlines(True)
        self.assertEqual(file, {
            "path": "src/till.c", "language": "c", "lines": 17,
            "tokens": self.count(test_read.TILL), "symbols": [
                {"name": "count", "kind": "function", "signature": "int count(int n)", "line": 5,
                 "end_line": 12, "tokens": self.count("".join(lines[4:12])), "container": None},
                {"name": "helper", "kind": "function", "signature": "static int helper(void)",
                 "line": 14, "end_line": 17, "tokens": self.count("".join(lines[13:17])),
                 "container": None}]})
        out = self.outline("src/till.c").out
        self.assertEqual(self.count(out), document["rendered_tokens"])
        self.assertEqual(out.splitlines()[1],
                         f"  5-12 int count(int n) [{file['symbols'][0]['tokens']}]")

    def test_members_are_indented_and_have_their_container(self):
        symbols = self.outline("src/shop.py", "--json").json()["files"][0]["symbols"]
        self.assertEqual([(symbol["name"], symbol["container"]) for symbol in symbols],
                         [("Shop", None), ("total", "Shop"), ("name", "Shop"), ("total", None)])
        out = self.outline("src/shop.py").out.splitlines()
        self.assertTrue(out[1].startswith("  6-15 ") and out[2].startswith("    11-12 "), out)

    def test_a_directory_has_its_files_by_path_and_counts_the_others(self):
        document = self.outline(".", "--json").json()
        self.assertEqual([file["path"] for file in document["files"]],
                         ["other/helper.c", "src/shop.py", "src/till.c", "src/till.h"])
        self.assertEqual((document["total"], document["others"]), (4, 4))
        self.assertEqual(document, self.outline("--json").json())
        self.assertEqual([file["path"] for file in self.outline("src", "--json").json()["files"]],
                         ["src/shop.py", "src/till.c", "src/till.h"])

    def test_a_definition_has_what_is_in_it(self):
        symbols = self.outline("Shop", "--json").json()["files"][0]["symbols"]
        self.assertEqual([symbol["name"] for symbol in symbols], ["Shop", "total", "name"])

    def test_a_file_without_symbols_is_still_a_file(self):
        file = self.outline("docs/long.txt", "--json").json()["files"][0]
        self.assertEqual((file["language"], file["lines"], file["symbols"]), (None, 3000, []))

    def test_a_long_answer_goes_on_at_the_cursor(self):
        source = "".join(f"int function_{n}(int a)\n{{\n\treturn a;\n}}\n\n" for n in range(400))
        repo = self.make_repo({"a.c": source, "b.c": source, "c.c": "int last;\n"}, "many")
        found, cursor, parts = [], [], 0
        while True:
            answer = self.vcm("outline", "--repo", repo, "--max-answer-tokens", "3000", "--json",
                              *cursor, check=0).json()
            self.assertLessEqual(self.count(json.dumps(answer, separators=(",", ":"))), 3000)
            found += [(file["path"], symbol["name"]) for file in answer["files"]
                      for symbol in file["symbols"]]
            parts += 1
            if not answer["truncated"]:
                break
            cursor = ["--cursor", answer["next_cursor"]]
        self.assertGreater(parts, 3)
        self.assertEqual(found, [(path, f"function_{n}") for path in ("a.c", "b.c")
                                 for n in range(400)] + [("c.c", "last")])
        out = self.vcm("outline", "--repo", repo, check=0).out
        self.assertLessEqual(self.count(out), 4000)
        self.assertRegex(out.splitlines()[-1], r"^3 more files: vcm outline --repo .* --cursor 0:\d+$")

    def test_mapped_pages_and_the_working_tree_are_outlined_too(self):
        self.vcm("map", self.repo, "--scope", "shop", check=0)
        expected = self.outline("src/shop.py", "--json").json()
        self.assertEqual(self.vcm("outline", "src/shop.py", "--scope", "shop", "--json",
                                  check=0).json(), expected)
        with open(os.path.join(self.repo, "src/shop.py"), "a", encoding="utf-8") as file:
            file.write("\ndef fresh():\n    pass\n")
        symbols = self.outline("src/shop.py", "--worktree", "--json").json()["files"][0]["symbols"]
        self.assertEqual(symbols[-1]["name"], "fresh")

    def test_what_cannot_be_outlined_is_told(self):
        for what, code in (("nothing", "NOT_FOUND"), ("logo.bin", "UNSUPPORTED"),
                           ("helper", "AMBIGUOUS")):
            error = self.outline(what, "--json", check=1).json()["error"]
            self.assertEqual(error["code"], code)
        for cursor in ("x", "9:0", "1"):
            self.outline("--cursor", cursor, check=2)


if __name__ == "__main__":
    harness.main()
