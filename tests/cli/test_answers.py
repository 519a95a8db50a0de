"""Answers that fit: listings are bounded, say how much more there is, and go on where they ended."""

import os
import re
import shlex
import shutil
import subprocess
import tempfile

import harness

LISTINGS = {
    # command: (its list, how a row is told from others)
    "pages": ("pages", lambda row: (row["scope_id"], row["seq"])),
    "scopes": ("scopes", lambda row: row["scope_id"]),
    "coverage base:all": ("files", lambda row: row["path"]),
    "kb list": ("documents", lambda row: (row["source"] or "", row["path"])),
    "symbols": ("symbols", lambda row: (row["file_path"], row["line"], row["symbol_id"])),
    "refs shared": ("references", lambda row: (row["file_path"], row["line"])),
    "find d/long.txt": ("pages", lambda row: (row["scope_id"], row["seq"], row["record"])),
}
ROWS, TOKENS = 50, 4000


class AnswersTest(harness.VcmTest):
    """All tests begin with the same home and repository, which are made once and copied."""

    _made = None

    def setUp(self):
        super().setUp()
        self.repo = os.path.join(self.tmp, "repo")
        if AnswersTest._made is None:
            self._make()
            AnswersTest._made = tempfile.TemporaryDirectory(prefix="vcm-test-")
            for name in ("repo", "vcm-home"):
                shutil.copytree(os.path.join(self.tmp, name),
                                os.path.join(AnswersTest._made.name, name))
        else:
            for name in ("repo", "vcm-home"):
                shutil.copytree(os.path.join(AnswersTest._made.name, name),
                                os.path.join(self.tmp, name))

    def _make(self):
        files = {f"d/f{i:03}.py": f"def func_{i}(a):\n    return shared(a) + shared({i})\n"
                 for i in range(70)}
        files["d/shared.py"] = "def shared(a):\n    return a\n\nx, y = 1, 2\n"
        files["d/long.txt"] = "".join(f"line number {i} of a long file\n" for i in range(2000))
        files["docs/a,b %.md"] = "# A title\n\nwords\n"
        for i in range(60):
            files[f"docs/{i:02}.md"] = f"# Title {i}\n\nwords of document {i}\n"
        rows = "".join(f"  - {{name: r{i:02}, type: git_repo, start_dir: docs}}\n" for i in range(60))
        files[".colony/repo_map.yaml"] = (
            "schema_version: 1\nsources:\n  - {name: all, type: git_repo, flush_threshold: 1,"
            " flush_token_budget: 256}\n" + rows + "knowledge_routing:\n  - paths: [docs/**]\n")
        self.make_repo(files)
        self.vcm("map", self.repo, "--scope", "base", check=0)
        self.vcm("symbols", self.repo, check=0)

    def listing(self, command, *options, check=0):
        return self.vcm(*command.split(), *options, cwd=self.repo, check=check)

    def tokens(self, text):
        count = subprocess.run([self.program, "tokens", "--json"], input=text.encode(), env=self.env,
                               capture_output=True, check=True)
        return int(re.search(rb'"total":(\d+)', count.stdout).group(1))


class Json(AnswersTest):
    def test_a_listing_is_complete_unless_a_bound_is_asked_for(self):
        for command, (member, key) in LISTINGS.items():
            whole = self.listing(command, "--json").json()
            self.assertGreater(len(whole[member]), ROWS, command)
            self.assertEqual(whole[member], sorted(whole[member], key=key), command)
            again = self.listing(command, "--json", "--no-limit").json()
            self.assertEqual(again, whole | {"total": len(whole[member]), "truncated": False,
                                             "next_cursor": None}, command)

    def test_bounded_answers_in_a_row_are_the_whole_listing(self):
        for command, (member, _) in LISTINGS.items():
            whole = self.listing(command, "--json").json()
            for bound in (["--limit", "43"], ["--max-answer-tokens", "2500"]):
                rows, cursor, steps = [], [], 0
                while True:
                    part = self.listing(command, "--json", *bound, *cursor)
                    document = part.json()
                    self.assertEqual(document["total"], len(whole[member]), command)
                    self.assertTrue(document[member], command)
                    if bound[0] == "--limit":
                        self.assertLessEqual(len(document[member]), 43)
                    else:
                        self.assertLessEqual(self.tokens(part.out.rstrip("\n")), 2500)
                    rows += document[member]
                    steps += 1
                    self.assertEqual(document["truncated"], document["next_cursor"] is not None)
                    if not document["truncated"]:
                        break
                    cursor = ["--cursor", document["next_cursor"]]
                self.assertEqual(rows, whole[member], command)
                self.assertTrue(steps > 1 or bound[0] == "--max-answer-tokens", command)

    def test_both_bounds_hold_at_a_time(self):
        first = self.listing("pages", "--json", "--limit", "2", "--max-answer-tokens", "99999").json()
        self.assertEqual(len(first["pages"]), 2)
        few = self.listing("pages", "--json", "--limit", "70", "--max-answer-tokens", "1000").json()
        self.assertLess(len(few["pages"]), 70)

    def test_one_row_comes_however_small_the_bound_is(self):
        part = self.listing("pages", "--json", "--max-answer-tokens", "1").json()
        self.assertEqual(len(part["pages"]), 1)
        self.assertIn("1:base", part["next_cursor"])

    def test_a_cursor_survives_changes_elsewhere(self):
        first = self.listing("symbols", "--json", "--limit", "30").json()
        rest = self.listing("symbols", "--json").json()["symbols"][30:]
        self.commit(self.repo, {"d/aaa.py": "def early(a):\n    return a\n"})
        again = self.listing("symbols", "--json", "--cursor", first["next_cursor"]).json()
        self.assertEqual(again["symbols"], rest)

    def test_a_cursor_whose_row_is_gone_goes_on_behind_it(self):
        first = self.listing("symbols", "--json", "--limit", "30").json()
        whole = self.listing("symbols", "--json").json()["symbols"]
        gone = whole[30]["file_path"]
        self.commit(self.repo, {}, remove=[gone])
        again = self.listing("symbols", "--json", "--cursor", first["next_cursor"]).json()
        self.assertEqual(again["symbols"], [s for s in whole[30:] if s["file_path"] != gone])

    def test_what_is_no_cursor_is_refused(self):
        for command in LISTINGS:
            for cursor in ("x", "5", ":", "5:", "5:a,b,c,d", "-1:a", "5+6:a", "5:%", "5:%4", "5:%00",
                           "5:a b", "99999999999999999999:a"):
                if cursor == "5:" and command in ("coverage base:all", "scopes"):
                    continue  # the key is the empty text
                result = self.listing(command, "--json", "--cursor", cursor, check=2)
                error = result.json()["error"]
                self.assertEqual(error["code"], "INVALID_ARGUMENT", (command, cursor[:99]))
                self.assertIn("cursor", error["message"])

        for cursor in ("5:base,x", "5:base,~", "5:base,17"):
            self.listing("find d/long.txt", "--cursor", cursor, check=2)
        for cursor in ("5:base,x", "5:base,~", "5:base"):
            self.listing("pages", "--cursor", cursor, check=2)

    def test_bounds_that_contradict_each_other_are_refused(self):
        for bound in ("--limit", "--max-answer-tokens"):
            result = self.listing("pages", "--no-limit", bound, "5", check=2)
            self.assertIn("no-limit", result.err)
        self.listing("pages", "--limit", "0", check=2)


class Text(AnswersTest):
    def test_a_listing_is_bounded_and_names_the_command_that_goes_on(self):
        for command, (member, _) in LISTINGS.items():
            whole = self.listing(command, "--no-limit").out
            self.assertNotIn("--cursor", whole)
            result = self.listing(command)
            self.assertLessEqual(self.tokens(result.out), TOKENS, command)
            last = result.out.splitlines()[-1]
            found = re.fullmatch(r"([\d,]+) more: (vcm .* --cursor \S+)", last)
            self.assertTrue(found, f"{command}: {last}")
            total = len(self.listing(command, "--json").json()[member])
            more = int(found.group(1).replace(",", ""))
            shown = total - more
            self.assertTrue(0 < shown <= ROWS, command)
            # The command, as it is printed, shows the rest.
            rows = shown
            while found:
                words = shlex.split(found.group(2))
                self.assertEqual(words[0], "vcm")
                result = self.vcm(*words[1:], cwd=self.repo, check=0)
                last = result.out.splitlines()[-1]
                found = re.fullmatch(r"([\d,]+) more: (vcm .* --cursor \S+)", last)
                left = int(found.group(1).replace(",", "")) if found else 0
                rows += more - left
                more = left
            self.assertEqual(rows, total, command)

    def test_rows_or_tokens_whichever_comes_first(self):
        lines = self.listing("find d/f001.py", "--no-limit").out.splitlines()
        self.assertEqual(len(lines), 2)
        few = self.listing("scopes", "--limit", "7").out.splitlines()
        self.assertEqual(len(few), 1 + 7 + 1)
        by_tokens = self.listing("scopes", "--max-answer-tokens", "500").out
        self.assertLessEqual(self.tokens(by_tokens), 500)
        self.assertGreater(self.tokens(by_tokens), 350)

    def test_a_bound_that_is_asked_for_replaces_the_defaults(self):
        many = self.listing("coverage base:all", "--limit", "120").out
        self.assertEqual(len(re.findall(r"^paged ", many, re.M)), 120)

    def test_what_fits_has_no_last_line_of_this_kind(self):
        self.assertNotIn(" more: ", self.listing("symbols --name func_1").out)

    def test_the_command_is_one_that_a_shell_takes(self):
        odd = os.path.join(self.tmp, "o d'd")
        os.rename(self.repo, odd)
        out = self.vcm("--quiet", "symbols", "--limit=3", "--cursor=0:a,1", "--", odd, check=0).out
        last = out.splitlines()[-1]
        command = last.split(" more: ")[1]
        words = shlex.split(command)
        self.assertEqual(words[:3] + words[-2:], ["vcm", "--quiet", "symbols", "--", odd])
        self.assertEqual(words.count("--cursor"), 1)
        run = subprocess.run(["sh", "-c", f'vcm() {{ {self.program} "$@"; }}; {command}'],
                             env=self.env, capture_output=True, check=True)
        self.assertIn(b"func_3", run.stdout)

    def test_the_home_of_the_command_line_stays_in_the_command(self):
        out = self.vcm("--home", self.home, "scopes", "--limit", "1", check=0).out
        self.assertIn(f" more: vcm --home {self.home} scopes --limit 1 --cursor 1:base", out)

    def test_names_with_control_characters_go_on_too(self):
        self.commit(self.repo, {f"d/\t{i}.py": f"def tab_{i}(): pass\n" for i in range(3)})
        out = self.listing("symbols", "--limit", "1").out
        for i in range(1, 3):
            words = shlex.split(out.splitlines()[-1].split(" more: ")[1])
            out = self.vcm(*words[1:], cwd=self.repo, check=0).out
            self.assertIn(f"tab_{i}", out)
