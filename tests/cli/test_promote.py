"""vcm promote: literature moves from the knowledge base to pages by a change of the map."""

import os

from repo_map import MAP, RepoMapTest

BLOCK = """# The map of our papers.
schema_version: 1
sources:
  - name: code   # ours
    type: git_repo
    include_globs: ["*.c"]

# What people read.
knowledge_routing:
  - paths:
      - "papers/"   # all of them
    profile: paper
  # Notes come and go.
  - paths: ["notes/*.md"]
    ingest_to: knowledge_base   # for now
# The end.
"""
FILES = {"a.c": "int a;\n", "papers/one.md": "# One\n\nalpha\n", "papers/two.md": "# Two\n\nbeta\n",
         "notes/n.md": "# N\n\ngamma\n", "odd [x].md": "# Odd\n"}


class Promote(RepoMapTest):
    def repo_with(self, text, files=(), **options):
        repo = super().repo_with(text, files, **options)
        self.git(repo, "config", "user.name", "Ann Author")
        self.git(repo, "config", "user.email", "ann@example.com")
        return repo

    def promote(self, repo, *paths, check=0):
        return self.report("promote", "--repo", repo, *paths, check=check)

    def map_text(self, repo):
        with open(os.path.join(repo, MAP), encoding="utf-8") as file:
            return file.read()

    def routed(self, repo):
        result = self.report("map", repo)
        return ({file["path"] for file in result["knowledge"]["files"]},
                {row["name"]: row["coverage"]["paged"] for row in result["sources"]})

    def test_a_file_gets_a_route_and_a_row_and_everything_else_stays(self):
        repo = self.repo_with(BLOCK, FILES)
        result = self.promote(repo, "papers/one.md")
        self.assertEqual((result["paths"], result["files"], result["changed"]),
                         (["papers/one.md"], 1, True))
        self.assertEqual((result["row"], result["row_added"], result["route_added"]),
                         ("promoted", True, True))
        text = self.map_text(repo)
        self.assertEqual(text, BLOCK.replace('    include_globs: ["*.c"]\n', '''    include_globs: ["*.c"]
  - name: promoted
    type: literature
    include_globs:
      - "papers/one.md"
''').replace("# for now\n", '''# for now
  - ingest_to: vcm
    paths:
      - "papers/one.md"
'''))
        self.assertEqual(result["text"], text)
        self.assertEqual(self.git(repo, "rev-parse", "HEAD"), result["commit"])
        self.assertEqual(self.git(repo, "status", "--porcelain"), "")
        self.assertEqual(self.git(repo, "show", "--format=%s", "--name-only", "HEAD").split("\n"),
                         ["map: promote papers/one.md", "", MAP])
        self.assertEqual(self.routed(repo), ({"papers/two.md", "notes/n.md"},
                                             {"code": 1, "promoted": 1}))
        again = self.promote(repo, "papers/one.md")
        self.assertEqual((again["changed"], again["commit"]), (False, None))

    def test_a_route_of_its_own_is_set_and_an_old_row_is_extended(self):
        repo = self.repo_with(BLOCK, FILES)
        first = self.promote(repo, "notes/*.md")
        self.assertEqual((first["routes_set"], first["route_added"]), (1, False))
        self.assertIn("    ingest_to: vcm   # for now\n", self.map_text(repo))
        second = self.promote(repo, "papers/")
        self.assertEqual((second["row"], second["row_added"]), ("promoted", False))
        # "papers/" means every directory of that name, which is more than was asked for.
        self.assertEqual((second["routes_set"], second["route_added"]), (0, True))
        text = self.map_text(repo)
        self.assertIn('      - "notes/*.md"\n      - "/papers/"\n', text)
        self.assertEqual(self.routed(repo), (set(), {"code": 1, "promoted": 3}))

    def test_a_route_without_a_destination_gets_one(self):
        repo = self.repo_with(BLOCK.replace('"papers/"', '"/papers/"').replace(
            "    profile: paper\n", ""), FILES)
        result = self.promote(repo, "papers")
        self.assertEqual((result["routes_set"], result["route_added"]), (1, False))
        repo = self.repo_with(BLOCK.replace('"papers/"', '"papers/one.md"'), FILES, name="other")
        self.assertEqual(self.promote(repo, "papers/one.md")["routes_set"], 1)
        self.assertIn('      - "papers/one.md"   # all of them\n    ingest_to: vcm\n'
                      "    profile: paper\n", self.map_text(repo))

    def test_flow_lists_are_extended_where_that_is_safe(self):
        repo = self.repo_with("schema_version: 1\nsources:\n"
                              "- {name: l, type: literature, include_globs: [x.md, 'y.md']} # c\n"
                              "knowledge_routing: []\n", FILES)
        self.promote(repo, "odd [x].md", "papers/one.md")
        text = self.map_text(repo)
        self.assertIn("""include_globs: [x.md, 'y.md', "/odd\\\\ \\\\[x].md", "papers/one.md"]} # c\n""",
                      text)
        self.assertIn("knowledge_routing:\n  - ingest_to: vcm\n    paths:\n", text)
        self.assertEqual(self.routed(repo), (set(), {"l": 2}))

    def test_what_cannot_be_edited_safely_is_refused(self):
        for text in ("{schema_version: 1, sources: []}\n",
                     "schema_version: 1\nsources: [{name: a, type: git_repo}]\n"):
            repo = self.repo_with(text, FILES, name=f"repo{len(text)}")
            error = self.promote(repo, "papers/one.md", check=1)["error"]
            self.assertEqual(error["code"], "UNSUPPORTED")
            self.assertEqual(self.map_text(repo), text)

    def test_a_dry_run_and_a_refusal_change_nothing(self):
        repo = self.repo_with(BLOCK, FILES)
        head = self.git(repo, "rev-parse", "HEAD")
        result = self.promote(repo, "papers/one.md", "--dry-run")
        self.assertEqual((result["changed"], result["commit"]), (True, None))
        self.assertIn("ingest_to: vcm", result["text"])
        self.assertEqual(self.promote(repo, "nowhere.pdf", check=1)["error"]["code"], "NOT_FOUND")
        self.assertEqual(self.map_text(repo), BLOCK)
        self.set_map(repo, BLOCK + "# more\n")
        self.assertEqual(self.promote(repo, "papers/one.md", check=2)["error"]["code"],
                         "INVALID_ARGUMENT")
        self.assertEqual(self.git(repo, "rev-parse", "HEAD"), head)
        plain = self.make_repo({"a.md": "x\n"}, name="plain")
        self.assertEqual(self.promote(plain, "a.md", check=1)["error"]["code"], "NOT_FOUND")

    def test_the_last_word_may_be_the_repository(self):
        repo = self.repo_with(BLOCK, FILES)
        self.write(repo, {"a.c": "int changed;\n"})
        run = self.vcm("promote", "papers/one.md", repo, check=0)
        self.assertIn("committed", run.out)
        self.assertEqual(self.git(repo, "status", "--porcelain"), " M a.c")
