"""Texts and patterns that are short to write and long to read. Steps are bounded, not time: a file over
the bound is listed as too_costly, and everything else is done."""

import os
import unittest

import harness

LONG = os.environ.get("VCM_TEST_LONG") == "1"

# A file name, and what is repeated in it how often.
SOURCES = {"a.py": ("(", 100_000), "b.go": ("[", 100_000), "c.hs": ("<<A\n", 25_000)}
DOCUMENTS = {"title.md": ("# " + "](" * 200_000 + "\n"), "items.md": "- \n" * 200_000}


class Costs(harness.VcmTest):
    def test_sources_that_take_minutes_are_listed_as_too_costly(self):
        repo = self.make_repo({"good.c": "int fine(void);\n"} |
                              {name: text * times for name, (text, times) in SOURCES.items()})
        listed = self.vcm("symbols", repo, "--json", check=0).json()
        self.assertEqual([symbol["name"] for symbol in listed["symbols"]], ["fine"])
        self.assertEqual({entry["file_path"]: entry["reason"] for entry in listed["incomplete"]},
                         {name: "too_costly" for name in SOURCES})
        self.vcm("repo", "map", repo, check=0)

    def test_documents_are_read_in_proportion_to_their_size(self):
        repo = self.make_repo(DOCUMENTS | {".colony/repo_map.yaml":
            "schema_version: 1\nsources:\n  - {name: texts, type: literature}\n"})
        mapped = self.vcm("map", repo, "--json", check=0).json()
        self.assertEqual(mapped["sources"][0]["coverage"]["failed"], 0)

    @unittest.skipUnless(LONG, "a thousand million steps")
    def test_ignore_patterns_that_are_too_costly_fail_the_row(self):
        patterns = "".join(f"*a*a*a*a{i}a\n" for i in range(40_000))
        repo = self.make_repo({".gitignore": patterns} |
                              {"a" * 100 + f"{i}a": "x\n" for i in range(2_000)})
        refused = self.vcm("map", repo, "--json", check=1)
        self.assertIn("too costly", refused.out)


if __name__ == "__main__":
    unittest.main()
