"""`vcm symbols`, `vcm refs` and `vcm repo map` over one index of the home."""

import os
import re
import subprocess

import harness

SHOP = {
    "core/list.h": "/* A list. */\nstruct list { int size; };\nint list_size(const struct list *list);\n",
    "core/list.c": '#include "core/list.h"\n\nint list_size(const struct list *list)\n{\n'
                   "    return list->size;\n}\n\nstatic int helper(void) { return 1; }\n",
    "main.c": '#include "core/list.h"\n\nint main(void)\n{\n    struct list list;\n'
              "    return list_size(&list) + helper() + twice();\n}\n",
    "other.c": "static int helper(void) { return 2; }\nint use(void) { return helper(); }\n",
    "dup1.c": "int twice(void) { return 2; }\n",
    "dup2.c": "int twice(void) { return 2; }\n",
    "notes.md": "# Notes\n",
}


class Symbols(harness.VcmTest):
    def setUp(self):
        super().setUp()
        self.repo = self.make_repo(SHOP)

    def run_json(self, *args, **options):
        return self.vcm(*args, "--json", check=options.pop("check", 0), **options).json()

    def refusal(self, *args, code, check=1):
        error = self.run_json(*args, check=check)["error"]
        self.assertEqual(error["code"], code, error)

    def test_definitions_are_listed_with_what_a_reader_wants(self):
        found = self.run_json("symbols", self.repo, "--name", "LIST_SIZE", "--kind", "function")
        self.assertEqual((found["total"], found["truncated"], found["incomplete"]), (1, False, []))
        self.assertEqual(found["symbols"], [{
            "symbol_id": "core/list.c:3#list_size", "name": "list_size", "kind": "function",
            "signature": "int list_size(const struct list *list)", "documentation": "",
            "file_path": "core/list.c", "line": 3, "start_line": 3, "end_line": 6, "container": None,
            "language": "c", "source": "tree-sitter", "visibility": "public"}])
        struct = self.run_json("symbols", self.repo, "--kind", "struct")["symbols"][0]
        self.assertEqual((struct["documentation"], struct["file_path"]), ("A list.", "core/list.h"))
        cut = self.run_json("symbols", self.repo, "--limit", "2")
        self.assertEqual((len(cut["symbols"]), cut["truncated"]), (2, True))
        only = self.run_json("symbols", self.repo, "--file", "core/*.h")["symbols"]
        self.assertEqual({s["file_path"] for s in only}, {"core/list.h"})
        self.refusal("symbols", self.repo, "--kind", "gadget", code="INVALID_ARGUMENT", check=2)

    def test_a_person_reads_each_kind_once(self):
        lines = self.vcm("symbols", self.repo, "--file", "core/*.h", check=0).out.splitlines()
        self.assertIn("core/list.h:2: struct list", lines)
        self.assertIn("core/list.h:3: prototype int list_size(const struct list *list)", lines)

    def test_references_are_resolved_where_one_definition_is_left(self):
        [ref] = self.run_json("refs", "list_size", self.repo)["references"]
        self.assertEqual(ref, {
            "kind": "call", "from_symbol": "main.c:3#main", "file_path": "main.c", "line": 6,
            "excerpt": "return list_size(&list) + helper() + twice();", "source": "tree-sitter",
            "resolution_state": "resolved", "target": "core/list.c:3#list_size",
            "to_name": "list_size", "to_container_hint": None, "candidates": [], "candidates_total": 0})

    def test_an_ambiguous_or_hidden_definition_is_no_answer(self):
        [ref] = self.run_json("refs", "twice", self.repo)["references"]
        self.assertEqual((ref["resolution_state"], ref["target"]), ("unresolved", None))
        self.assertEqual((ref["to_name"], len(ref["candidates"]), ref["candidates_total"]), ("twice", 2, 2))
        refs = self.run_json("refs", "helper", self.repo)["references"]
        self.assertEqual([(r["file_path"], r["target"]) for r in refs],
                         [("main.c", None), ("other.c", "other.c:1#helper")])

    def test_an_id_leaves_out_what_means_another(self):
        found = self.run_json("refs", "core/list.c:8#helper", self.repo)
        self.assertEqual([r["file_path"] for r in found["references"]], ["main.c"])
        self.refusal("refs", "core/list.c:99#helper", self.repo, code="NOT_FOUND")
        self.assertEqual(self.run_json("refs", "nobody", self.repo)["total"], 0)

    def test_imports_decide_between_equal_names(self):
        repo = self.make_repo({
            "a/tool.py": "def run():\n    pass\n", "b/tool.py": "def run():\n    pass\n",
            "go.py": "from b.tool import run\nrun()\n", "lost.py": "run()\n",
            "made.py": "class Box:\n    pass\nBox()\n"}, name="py")
        refs = self.run_json("refs", "run", repo)["references"]
        self.assertEqual([(r["file_path"], r["target"]) for r in refs],
                         [("go.py", "b/tool.py:1#run"), ("go.py", "b/tool.py:1#run"), ("lost.py", None)])
        [box] = self.run_json("refs", "Box", repo)["references"]
        self.assertEqual((box["kind"], box["resolution_state"]), ("instantiate", "resolved"))

    def test_an_overriding_method_refers_to_what_it_overrides(self):
        repo = self.make_repo({
            "Shape.java": "class Shape {\n    int area() { return 0; }\n}\n",
            "Other.java": "class Other {\n    int area() { return 0; }\n}\n",
            "Disc.java": "class Disc extends Shape {\n    @Override\n    int area() { return 1; }\n}\n",
            "Lost.java": "class Lost extends Away {\n    @Override\n    int area() { return 1; }\n}\n",
            "lib.rs": "trait Area {\n    fn size(&self) -> i32;\n}\nstruct P;\n"
                      "impl Area for P {\n    fn size(&self) -> i32 { 1 }\n}\n"}, name="override")
        refs = self.run_json("refs", "area", repo)["references"]
        self.assertEqual([(r["file_path"], r["kind"], r["target"]) for r in refs],
                         [("Disc.java", "override", "Shape.java:2#Shape.area"),
                          ("Lost.java", "override", None)])
        [ref] = self.run_json("refs", "size", repo)["references"]
        self.assertEqual((ref["kind"], ref["target"]), ("override", "lib.rs:2#Area.size"))

    def test_imports_of_modules_whose_files_are_named_otherwise(self):
        repo = self.make_repo({
            "lib/big_shop/item.ex": "defmodule BigShop.Item do\n  def cost(x), do: x\nend\n",
            "lib/a.ex": "defmodule A do\n  import BigShop.Item\n  def go(x), do: cost(x)\nend\n",
            "wire.ml": "let send x = x\n", "main.ml": "open Wire\nlet main y = send y\n"},
            name="modules")
        [ref] = self.run_json("refs", "cost", repo)["references"]
        self.assertEqual(ref["target"], "lib/big_shop/item.ex:2#BigShop.Item.cost")
        [ref] = self.run_json("refs", "send", repo)["references"]
        self.assertEqual(ref["target"], "wire.ml:1#send")

    def test_ctags_reads_what_no_grammar_does_and_each_answer_says_so(self):
        repo = self.make_repo({"lib/shop.pl": "# The sum.\nsub total {\n    1;\n}\n",
                               "main.c": "int main(void) { return 0; }\n"}, name="perl")
        without = dict(self.env, PATH=os.path.join(self.tmp, "nowhere"))
        found = self.run_json("symbols", repo, env=without)
        self.assertEqual([s["name"] for s in found["symbols"]], ["main"])
        self.assertEqual(found["incomplete"], [{"file_path": "lib/shop.pl", "reason": "no_ctags"}])
        found = self.run_json("symbols", repo)
        self.assertEqual(found["incomplete"], [])
        self.assertEqual([(s["name"], s["source"], s["documentation"]) for s in found["symbols"]],
                         [("total", "ctags", "The sum."), ("main", "tree-sitter", "")])
        self.assertIn("function sub total (ctags)\n", self.vcm("symbols", repo, check=0).out)
        found = self.run_json("symbols", repo, env=without)
        self.assertEqual(found["total"], 2)
        found = self.run_json("repo", "map", repo)
        self.assertIn("lib/shop.pl: (ctags)\n  function sub total :2\n", found["map"])
        self.assertEqual(found["sources"], {"tree-sitter": 1, "ctags": 1})

    def test_only_changed_blobs_are_parsed_again(self):
        self.run_json("symbols", self.repo)
        log = self.vcm("symbols", self.repo, "--verbose", check=0)
        self.assertNotIn("reading the symbols", log.err)
        self.commit(self.repo, {"main.c": "int fresh(void) { return 0; }\n"})
        log = self.vcm("symbols", self.repo, "--verbose", "--verbose", check=0)
        self.assertIn("fresh", log.out)

    def test_what_cannot_be_read_is_named_and_the_rest_is_there(self):
        deep = "(" * 10000 + ")" * 10000
        repo = self.make_repo({
            "bin.c": b"int a;\0\0", "deep.c": f"int x = {deep};\nint good(void) {{ return 1; }}\n",
            "big.c": "int a[] = {" + "1," * 1500000 + "1};\n", "bad.py": "def (((\nclass :\n\xff",
            "ok.py": "def fine(): pass\n", "empty.c": ""}, name="hostile")
        found = self.run_json("symbols", repo)
        self.assertEqual({f["file_path"]: f["reason"] for f in found["incomplete"]},
                         {"bin.c": "binary", "big.c": "too_large"})
        self.assertIn("fine", {s["name"] for s in found["symbols"]})

    def test_files_that_no_person_wrote_are_survived(self):
        minified = "var a=" + ",".join(f"function(b{i}){{return b{i}?c{i}(b{i}):d{i}}}"
                                       for i in range(3000)) + ";function last(){}"
        repo = self.make_repo({
            "min.js": minified, "array.c": "int a[] = {" + "1," * 25_000_000 + "1};\n",
            "wide.c": "int wide;\n".encode("utf-16"), "errors.c": "} ) ; int ( { = " * 5000,
            "latin.py": "# Gr\xfc\xdfe\ndef gr\xfc\xdfe():\n    pass\n".encode("latin-1"),
            "mixed.c": b"// \xff\xfe\nint mixed(void) { return 1; } /* \xe4\xb8 */\n",
            "long.py": "x = " + "-" * 100_000 + "1\ndef after(): pass\n"}, name="strange")
        found = self.run_json("symbols", repo, "--limit", "100000")
        reasons = {f["file_path"]: f["reason"] for f in found["incomplete"]}
        self.assertEqual((reasons.pop("array.c"), reasons.pop("wide.c")), ("too_large", "binary"))
        self.assertLessEqual(set(reasons.values()), {"too_costly", "too_many_symbols"})
        self.assertLessEqual({"last", "mixed"}, {s["name"] for s in found["symbols"]})
        mapped = self.run_json("repo", "map", repo, "--token-budget", "300")
        self.assertLessEqual(mapped["tokens"], 300)

    def test_a_blob_that_is_not_here_is_named(self):
        blob = self.git(self.repo, "rev-parse", "HEAD:main.c")
        os.unlink(os.path.join(self.repo, ".git", "objects", blob[:2], blob[2:]))
        found = self.run_json("symbols", self.repo)
        self.assertEqual(found["incomplete"], [{"file_path": "main.c", "reason": "missing"}])
        self.assertGreater(found["total"], 0)

    def test_bad_paths_and_globs_are_refused(self):
        outside, empty = os.path.join(self.tmp, "outside"), os.path.join(self.tmp, "empty")
        os.mkdir(outside)
        os.mkdir(empty)
        self.git(empty, "init", "--quiet")
        for path in (os.path.join(self.tmp, "gone"), outside, empty, os.path.join(self.repo, "no")):
            self.refusal("symbols", path, code="NOT_FOUND")
            self.refusal("refs", "main", path, code="NOT_FOUND")
        for glob in ("a;b", "$(x)", "a\nb", "\xe9"):
            self.refusal("symbols", self.repo, "--file", glob, code="INVALID_ARGUMENT", check=2)
        for glob in ("[", "[]", "{{{{", "**/" * 60 + "x", "*" * 200 + "b", "a" * 3000, "[a-", "}{"):
            found = self.vcm("symbols", self.repo, "--file", glob, "--json")
            self.assertIn(found.status, (0, 2), (glob, found.err))
        for name in ("a:b#c", "core/list.c:0#x", "core/list.c:99999999999#x", "#", ":", "x" * 5000):
            self.assertIn(self.vcm("refs", name, self.repo, "--json").status, (0, 1, 2), name)

    def test_what_a_call_makes_is_told_only_where_it_is_known(self):
        repo = self.make_repo({
            "box.py": "class Box:\n    pass\n",
            "use.py": "from box import Box\nBox()\n", "lost.py": "Box()\n",
            "Till.java": "class Till {\n    Till(int n) { }\n}\n",
            "Use.java": "class Use {\n    Object go() { return new Till(1); }\n}\n"}, name="made")
        refs = self.run_json("refs", "Box", repo)["references"]
        self.assertEqual([(r["file_path"], r["kind"], r["target"]) for r in refs if
                          r["kind"] != "read"],
                         [("lost.py", "call", None), ("use.py", "instantiate", "box.py:1#Box")])
        [ref] = self.run_json("refs", "Till", repo)["references"]
        self.assertEqual((ref["kind"], ref["target"]), ("instantiate", "Till.java:1#Till"))

    def ask_all(self, *place, **options):
        """The three answers about helper() for the repository that the words name."""
        return (self.run_json("symbols", *place, "--name", "helper", **options),
                self.run_json("refs", "helper", *place, **options),
                self.run_json("repo", "map", *place, **options))

    def test_another_commit_is_looked_at(self):
        first = self.git(self.repo, "rev-parse", "HEAD")
        self.git(self.repo, "tag", "v1")
        before = self.ask_all(self.repo)
        self.commit(self.repo, {"other.c": "int renamed(void) { return 2; }\n", "core/list.c": "\n",
                                "main.c": "int main(void) { return 0; }\n"})
        self.assertEqual([a["total"] for a in self.ask_all(self.repo)[:2]], [0, 0])
        self.assertNotIn("helper", self.ask_all(self.repo)[2]["map"])
        self.git(self.repo, "branch", "old", first)
        for name in ("HEAD~1", "v1", "old", first, first[:8]):
            self.assertEqual(self.ask_all(self.repo, "--commit", name), before, name)
        self.assertEqual({answer["commit"] for answer in before}, {first})
        below = os.path.join(self.repo, "core")
        found = self.run_json("symbols", below, "--commit", "v1", "--name", "helper")
        self.assertEqual([s["file_path"] for s in found["symbols"]], ["core/list.c"])
        self.vcm("map", self.repo, check=0)
        for answer in self.ask_all(self.repo, "--commit", "nowhere", check=1):
            self.assertEqual(answer["error"]["code"], "NOT_FOUND")
            self.assertIn("nowhere", answer["error"]["message"])
        for answer in self.ask_all(self.repo, "--commit", "v1", "--worktree", check=2):
            self.assertEqual(answer["error"]["code"], "INVALID_ARGUMENT")
            self.assertIn("not both", answer["error"]["message"])

    def test_a_url_is_fetched_once_and_looked_at(self):
        url = "file://" + self.repo
        here = self.ask_all(self.repo)
        result = self.vcm("symbols", url, "--name", "helper", "--json", check=0)
        self.assertIn("fetching", result.err)
        self.assertEqual(result.json(), here[0])
        self.assertEqual(self.ask_all(url), here)
        fresh = self.commit(self.repo, {"other.c": "int renamed(void) { return 2; }\n"})
        again = self.vcm("symbols", url, "--name", "helper", "--json", check=0)
        self.assertNotIn("fetching", again.err)
        self.assertEqual(again.json(), here[0])
        for answer in self.ask_all(url, "--commit", fresh):
            self.assertEqual(answer["commit"], fresh)
        for answer in self.ask_all(url, "--worktree", check=2):
            self.assertEqual(answer["error"]["code"], "INVALID_ARGUMENT")
        for answer in self.ask_all("file://" + os.path.join(self.tmp, "gone"), check=1):
            self.assertEqual(answer["error"]["code"], "NOT_FOUND")

    def test_mapped_pages_do_not_stand_in_for_a_repository(self):
        self.vcm("map", self.repo, check=0)
        os.rename(self.repo, self.repo + ".away")
        for answer in self.ask_all(self.repo, check=1):
            self.assertEqual(answer["error"]["code"], "NOT_FOUND")
        self.assertNotIn("answered from", self.vcm("symbols", self.repo, check=1).err)

    def test_a_terminal_shows_how_many_files_are_indexed(self):
        # One processor, so that it takes longer than the half second without a line.
        processors = os.sched_getaffinity(0)
        self.addCleanup(os.sched_setaffinity, 0, processors)
        os.sched_setaffinity(0, {min(processors)})
        body = "".join(f"int f{i}(int a) {{ return g{i}(a) + {i}; }}\n" for i in range(400))
        repo = self.make_repo({f"d{n % 9}/n{n}.c": f"int n{n};\n{body}" for n in range(300)},
                              name="large")
        for words in (("symbols", repo, "--kind", "struct"), ("repo", "map", repo)):
            home = os.path.join(self.tmp, words[0])
            shown = self.vcm(*words, "--home", home, tty="err", check=0).err
            drawn = [tuple(map(int, (done.replace(",", ""), total.replace(",", ""))))
                     for done, total in re.findall(r"files ([\d,]+) of ([\d,]+)  ", shown)]
            self.assertTrue(drawn, shown[-300:])
            self.assertEqual(drawn, sorted(drawn))
            self.assertEqual({total for _, total in drawn}, {300})
            self.assertTrue(all(done <= total for done, total in drawn), drawn)
            self.assertLess(drawn[0][0], 300)

    def test_two_processes_may_index_at_one_time(self):
        runs = [subprocess.Popen([self.program, "symbols", self.repo, "--json"], env=self.env,
                                 stdout=subprocess.PIPE) for _ in range(4)]
        outputs = {run.communicate()[0] for run in runs}
        self.assertEqual({run.returncode for run in runs}, {0})
        self.assertEqual(len(outputs), 1)


class Map(harness.VcmTest):
    def setUp(self):
        super().setUp()
        self.repo = self.make_repo(SHOP)

    def map(self, *args, check=0):
        return self.vcm("repo", "map", *args, "--json", check=check).json()

    def test_the_map_is_in_blocks_of_exactly_counted_tokens(self):
        found = self.map(self.repo)
        self.assertIn("core/list.h:\n  struct list :2\n", found["map"])
        self.assertIn("  function int list_size(const struct list *list) :3\n", found["map"])
        counted = self.vcm("tokens", "-", "--json", input=found["map"], check=0).json()
        self.assertEqual(counted["total_tokens"] if "total_tokens" in counted
                         else counted["files"][0]["tokens"], found["tokens"])
        self.assertEqual(found["tokens_estimated"], found["tokens"])
        self.assertEqual((found["files_total"], found["reason"]), (7, None))
        self.assertEqual(found["commit"], self.git(self.repo, "rev-parse", "HEAD"))
        text = self.vcm("repo", "map", self.repo, check=0)
        self.assertEqual(text.out, found["map"])

    def test_no_budget_is_ever_exceeded_and_equal_input_gives_equal_bytes(self):
        for budget in (1, 5, 12, 20, 33, 50, 80):
            found = self.map(self.repo, "--token-budget", str(budget))
            self.assertLessEqual(found["tokens"], budget)
            self.assertEqual(found, self.map(self.repo, "--token-budget", str(budget)))
            if found["next_budget"]:
                self.assertGreater(found["next_budget"], budget)
                path, symbol = found["next"].split(": ", 1)
                more = self.map(self.repo, "--token-budget", str(found["next_budget"]))["map"]
                self.assertIn(symbol, more)
                self.assertIn(f"{path}:\n", more)
            self.assertEqual(found["symbols_dropped"],
                             found["symbols_total"] - found["symbols_shown"])
        self.assertEqual(self.map(self.repo, "--token-budget", "1")["reason"], "budget_too_small")

    def test_an_empty_map_says_why(self):
        found = self.map(self.repo, "--include", "*.rs")
        self.assertEqual((found["map"], found["files_total"], found["reason"]),
                         ("", 0, "filtered_out"))
        self.assertEqual(self.map(self.repo, "--include", "*.md")["reason"], "no_supported_language")
        self.assertEqual(self.map(self.make_repo({}, name="none"))["reason"], "no_files")

    def test_what_is_meant_comes_first(self):
        first = self.map(self.repo, "--focus", "other.c")["map"].split(":")[0]
        self.assertEqual(first, "other.c")
        first = self.map(self.repo, "--mention", "main")["map"].split(":")[0]
        self.assertEqual(first, "main.c")

    def test_a_directory_is_looked_at_alone(self):
        found = self.map(os.path.join(self.repo, "core"))
        self.assertEqual(found["files_total"], 2)

    def test_bad_paths_and_globs_are_refused(self):
        for args, code, check in (((os.path.join(self.tmp, "gone"),), "NOT_FOUND", 1),
                                  ((self.tmp,), "NOT_FOUND", 1),
                                  ((self.repo, "--include", "a;b"), "INVALID_ARGUMENT", 2),
                                  ((self.repo, "--include", "$(x)"), "INVALID_ARGUMENT", 2),
                                  ((self.repo, "--include", "a\nb"), "INVALID_ARGUMENT", 2),
                                  ((self.repo, "--include", "\xe9"), "INVALID_ARGUMENT", 2)):
            self.assertEqual(self.map(*args, check=check)["error"]["code"], code)
        for glob in ("[", "[]", "{{{{", "**/" * 60 + "x", "*" * 200 + "b", "a" * 3000, "[a-", "}{"):
            found = self.vcm("repo", "map", self.repo, "--include", glob, "--json")
            self.assertIn(found.status, (0, 2), (glob, found.err))
        empty = os.path.join(self.tmp, "empty")
        os.mkdir(empty)
        self.git(empty, "init", "--quiet")
        self.assertEqual(self.map(empty, check=1)["error"]["code"], "NOT_FOUND")

    def test_doctor_names_the_languages(self):
        findings = self.vcm("doctor", "--json").json()["findings"]
        [detail] = [f["detail"] for f in findings if f["check"] == "languages"]
        full = detail.split("; ")[0]
        self.assertTrue(full.startswith("full: "))
        for language in ("bash", "c", "c_sharp", "cpp", "elixir", "go", "haskell", "java",
                         "javascript", "julia", "kotlin", "lua", "ocaml", "php", "python", "r",
                         "ruby", "rust", "scala", "sql", "swift", "tsx", "typescript", "zig"):
            self.assertIn(language, full.split())
        without = dict(self.env, PATH=os.path.join(self.tmp, "nowhere"))
        findings = self.vcm("doctor", "--json", env=without).json()["findings"]
        [detail] = [f["detail"] for f in findings if f["check"] == "languages"]
        self.assertIn("; absent: ", detail)
        self.assertIn("perl", detail.split("; absent: ")[1].split())
        [ctags] = [f for f in findings if f["check"] == "ctags"]
        self.assertEqual(ctags["status"], "ok")
        self.assertIn("absent", ctags["detail"])


class Newcomer(harness.VcmTest):
    """What the map of a repository shows first is what a newcomer needs."""

    def setUp(self):
        super().setUp()
        uses = "".join(f"  request({i})\n" for i in range(30))
        files = {
            "lib/client.lua": "local vim = vim\nlocal M = {}\nfunction M.request(id) end\n"
                              "function M.cancel_request(id) end\nfunction M.close(id) end\n"
                              "function M.supports(id) end\nreturn M\n",
            "lib/latest_news.lua": "local M = {}\nfunction M.news() request(1) end\nreturn M\n",
            "lib/types.gen.lua": "function request_type() end\n",
            "run.sh": "i=0\nlimit=1000000\nn=1\n",
        }
        for i in range(12):
            files[f"t/t{i}.lua"] = f"local vim = vim\nfunction check_{i}()\n{uses}  help()\nend\n"
            files[f"test/unit_{i}_spec.lua"] = f"function spec_{i}()\n{uses}  help()\nend\n"
        files["t/helper.lua"] = "function help() request(1) end\n"
        self.repo = self.make_repo(files)

    def map(self, *options):
        return self.vcm("repo", "map", self.repo, *options, check=0).out

    def paths(self, *options):
        return [line[:-1] for line in self.map(*options).splitlines() if not line.startswith(" ")]

    def test_tests_come_last_unless_they_are_asked_for(self):
        paths = self.paths("--token-budget", "5000")
        tests = [path.startswith(("t/", "test/")) for path in paths]
        self.assertIn(True, tests)
        self.assertEqual(tests, sorted(tests), paths)
        self.assertIn("lib/latest_news.lua", paths[:3])
        self.assertTrue(self.paths("--focus", "t/helper.lua")[0].startswith("t/"))
        self.assertFalse(any(path.startswith(("t/", "test/"))
                             for path in self.paths("--token-budget", "60")))

    def test_locals_and_constants_of_modules_stand_back(self):
        text = self.map("--token-budget", "70")
        self.assertIn("M.request", text)
        for noise in ("local vim", "limit=", "i=0"):
            self.assertNotIn(noise, text)

    def test_a_word_of_a_mention_finds_names_that_have_it(self):
        text = self.map("--token-budget", "40", "--mention", "cancel")
        self.assertIn("M.cancel_request", text.splitlines()[1], text)
