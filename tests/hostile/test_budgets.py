"""Budgets that are far too large, and content that would fill such a page."""

import harness

PAGE_BYTES = 4 << 20  # VCM_LIMIT_PAGE_BYTES
HUGE = 1000000000
MAP = "schema_version: 1\nsources:\n  - name: a\n    type: {type}\n    {key}: {value}\n"
BOUNDS = {"flush_token_budget": 1000000, "flush_threshold": 100000}


class Bounds(harness.VcmTest):
    def refused(self, *args, bound):
        result = self.vcm(*args, "--json", check=2)
        self.assertIn(str(bound), result.out, result)

    def test_a_row_has_an_upper_bound(self):
        for name, bound, kind in (("flush_token_budget", 1000000, "git_repo"),
                                  ("flush_threshold", 100000, "git_repo"),
                                  ("chunk_target_tokens", 1000000, "literature"),
                                  ("chunk_overlap_tokens", 1000000, "literature")):
            text = MAP.format(type=kind, key=name, value=HUGE)
            repo = self.make_repo({"a.c": "int x;\n", ".colony/repo_map.yaml": text}, name=name)
            self.refused("check", repo, bound=bound)
            self.refused("map", repo, bound=bound)

    def test_the_configuration_and_a_call_have_the_same(self):
        repo = self.make_repo({"a.c": "int x;\n"})
        for key, bound in BOUNDS.items():
            self.refused("config", "set", f"mmap.{key}", str(bound + 1), bound=bound)
            self.vcm("config", "set", f"mmap.{key}", str(bound), check=0)
            option = "--" + key.replace("_", "-")
            self.refused("map", repo, option, str(bound + 1), bound=bound)
            self.vcm("map", repo, option, str(bound), check=0)


class Memory(harness.VcmTest):
    """A budget counts tokens, and a token may have a hundred bytes: pages are bounded in bytes, too."""

    def test_the_largest_budget_makes_no_page_beyond_the_bound(self):
        files = {"spaces": b" " * (5 << 20), "controls": b"\1" * (1 << 20), "small.c": b"int x;\n",
                 "many/a": b" " * (3 << 20), "many/b": b" " * (3 << 20)}
        repo = self.make_repo(files)
        row = self.vcm("map", repo, "--scope", "s", "--flush-token-budget",
                       str(BOUNDS["flush_token_budget"]), "--json", check=0).json()["sources"][0]
        self.assertEqual(row["coverage"]["paged"], len(files))
        self.vcm("verify", check=0)
        texts = {}
        for page in self.vcm("pages", "--json", check=0).json()["pages"]:
            self.assertLessEqual(page["bytes"], PAGE_BYTES + 1024)
            for record in self.vcm("page", page["page_id"], "--json", check=0).json()["records"]:
                texts.setdefault(record["path"], []).append(record["text"])
        self.assertEqual({path: "".join(parts).encode() for path, parts in texts.items()}, files)
