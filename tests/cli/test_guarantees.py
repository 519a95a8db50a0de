"""docs/RELIABILITY.md and docs/SECURITY.md: every promise names tests, and these are there."""

import os
import re
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class Guarantees(unittest.TestCase):
    def is_test(self, name):
        folder, base = name.split("/")
        places = [f"tests/{folder}/test_{base}.py", f"tests/{folder}/{base}.c",
                  f"fuzz/fuzz_{base}.c"]
        return any(os.path.exists(os.path.join(ROOT, place)) for place in places)

    def test_every_promise_names_tests_that_exist(self):
        for document in ("RELIABILITY.md", "SECURITY.md"):
            with open(os.path.join(ROOT, "docs", document), encoding="utf-8") as file:
                rows = [line.strip().strip("|").split(" | ") for line in file
                        if line.startswith("| ")]
            rows = [row for row in rows if row[-1].strip() != "test"]
            self.assertGreater(len(rows), 15, document)
            for row in rows:
                names = re.findall(r"`([a-z0-9_]+/[a-z0-9_]+)`", row[-1])
                self.assertTrue(names, row)
                for name in names:
                    self.assertTrue(self.is_test(name), name)
