"""What every command has in common: streams, documents, exit statuses, options, home and terminal."""

import os
import re
import stat
import threading

import harness
from paging import PagingTest
from test_help import HelpTest

CODES = {"INVALID_ARGUMENT", "INVALID_REPO_MAP", "NOT_FOUND", "AMBIGUOUS", "AUTH_FAILED",
         "NETWORK_ERROR", "TIMEOUT", "STORE_FULL", "STORE_CORRUPT", "STORE_BUSY", "UNSUPPORTED",
         "IO_ERROR", "INTERNAL"}
# Commands that need nothing of a home.
WITHOUT_HOME = {"completion", "diff", "help", "init", "lfs status", "mcp", "schema", "trace replay"}
# Options without which a command has nothing to do.
OPTIONS_NEEDED = {"kb clear": ["--path", "nothing"], "lock": ["--ttl", "1m"],
                  "repo fetch": ["--quiet"],
                  "trace record": ["--duration", "1ms"]}
ESC = "\x1b"


class ContractTest(HelpTest, PagingTest):
    def assert_snake_case(self, value):
        if isinstance(value, dict):
            for key in value:
                self.assertRegex(key, r"^[a-z][a-z0-9_]*$")
        for inner in (value.values() if isinstance(value, dict)
                      else value if isinstance(value, list) else []):
            self.assert_snake_case(inner)

    def assert_error(self, result, *codes):
        """The document of a failure, nothing else on stdout, nothing on stderr."""
        self.assertEqual(result.err, "", result)
        document = result.json()
        self.assertEqual(list(document), ["error"])
        error = document["error"]
        self.assertEqual(list(error), ["code", "message", "details", "retryable"])
        self.assertIn(error["code"], codes or CODES, result)
        self.assertIn(error["code"], CODES)
        self.assertTrue(error["message"])
        self.assertNotRegex(error["message"], r"[\x00-\x1f\x7f]")
        self.assertIsInstance(error["details"], dict)
        self.assertIs(error["retryable"], error["code"] in
                      {"STORE_BUSY", "TIMEOUT", "NETWORK_ERROR"})
        self.assert_snake_case(document)
        return error

    def arguments(self, command):
        """Arguments that make the command succeed, by the names in its usage line."""
        values = {"REPO": self.repo, "URL": self.repo, "DIR": self.other, "PAGE": self.page_id,
                  "KEY": "cache.policy", "VALUE": "lru", "SHELL": "bash", "SCOPE": "sample", "PATH": "a",
                  "QUERY": "a", "NAME": "sample", "CHUNK": self.chunk_id,
                  "FILE": os.path.join(self.repo, "a")}
        if command.name == "trace replay":
            values["FILE"] = self.trace
        if command.name in ("schema", "help"):
            return []
        if command.name in ("read", "grep", "outline"):
            return ["a", "--repo", self.repo]
        if command.name == "diff":
            return ["HEAD..HEAD", self.repo]
        if command.name == "promote":
            return ["a", "--repo", self.mapped]
        usage = re.search(r"^Usage: vcm (.*)$", command.text, re.M).group(1)
        names = re.findall(r"\[?\b([A-Z]+)\]?(?:\.\.\.)?", usage.replace("[OPTIONS]", ""))
        return [values[name] for name in names] + OPTIONS_NEEDED.get(command.name, [])


class EveryCommand(ContractTest):
    def setUp(self):
        super().setUp()
        self.repo = self.make_repo({"a": "a\n", "dir/b": "b\n"})
        self.other = self.make_repo({"a": "a\n"}, name="other")  # for 'init', which commits
        self.mapped = self.make_repo({  # for 'promote', which does, too
            "a": "a\n", ".colony/repo_map.yaml": "schema_version: 1\nsources: []\n"}, name="mapped")
        for repo in (self.other, self.mapped):
            self.git(repo, "config", "user.name", "A Tester")
            self.git(repo, "config", "user.email", "tester@example.com")
        self.map_row(self.repo, "--scope", "sample")
        self.page_id = self.page_ids()[0]
        self.trace = os.path.join(self.tmp, "reads.trace")
        self.write(self.tmp, {"reads.trace": f"0 {self.page_id} 100\n"})
        self.vcm("kb", "ingest", os.path.join(self.repo, "a"), check=0)
        self.chunk_id = self.vcm("kb", "search", "a", "--json",
                                 check=0).json()["hits"][0]["chunk_id"]

    def test_success_is_one_document_with_the_keys_of_the_help(self):
        for command in self.commands():
            if command.name in ("watch", "top", "mcp", "serve"):  # without an end: tests of their own
                continue
            with self.subTest(command=command.name):
                words = command.name.split() + self.arguments(command)
                result = self.vcm(*words, "--json", check=0)
                self.assertEqual(result.err, "")
                self.assertTrue(result.out.endswith("}\n"))
                self.assertEqual(result.out.count("\n"), 1)
                self.assertEqual(list(result.json()), command.keys)
                if command.name != "schema":  # what is in it has the names of JSON Schema
                    self.assert_snake_case(result.json())
                self.vcm("map", self.repo, "--scope", "sample", check=0)  # after 'unmap'
                self.assertEqual(self.vcm(*words, check=0).err, "")
                self.vcm("map", self.repo, "--scope", "sample", check=0)

    def test_wrong_usage_is_one_document_and_status_2(self):
        for command in self.commands():
            with self.subTest(command=command.name):
                words = command.name.split() + self.arguments(command)
                mistakes = [["--nope=1"], ["-z"]]
                if "..." not in command.text.split("\n\n")[1]:
                    mistakes.append(["one", "two", "three", "too many"])
                for wrong in mistakes:
                    error = self.assert_error(self.vcm(*words, "--json", *wrong, check=2),
                                              "INVALID_ARGUMENT")
                    plain = self.vcm(*words, *wrong, check=2)
                    self.assertEqual(plain.err, f"vcm: {error['message']}\n")
                    self.assertEqual(plain.out, "")
                # The form of the answer does not depend on where the mistake is.
                self.assert_error(self.vcm("--nope", *words, "--json", check=2))

    def test_an_unusable_home_is_one_document_and_status_1(self):
        blocked = os.path.join(self.tmp, "file")
        self.write(self.tmp, {"file": "no directory\n"})
        for command in self.commands():
            if command.name in WITHOUT_HOME:
                continue
            with self.subTest(command=command.name):
                words = command.name.split() + self.arguments(command)
                for home in (blocked, os.path.join(blocked, "below")):
                    result = self.vcm(*words, "--json", "--home", home, check=1)
                    if command.name == "doctor":
                        self.assertFalse(result.json()["ok"])
                        continue
                    error = self.assert_error(result, "IO_ERROR")
                    self.assertIn(home, error["message"])

    def test_equal_input_gives_equal_output(self):
        for words in (["scopes"], ["pages"], ["stat"], ["config", "list"], ["completion", "zsh"],
                      ["page", self.page_id], ["--help"]):
            for form in ([], ["--json"]):
                outputs = {self.vcm(*words, *form, check=0).out_bytes for _ in range(2)}
                if words != ["stat"]:
                    self.assertEqual(len(outputs), 1, words)
        once, again = (self.map(self.repo, "--scope", "sample") for _ in range(2))
        for document in (once, again):
            for place in (document, *document["sources"]):
                self.assertIsInstance(place.pop("elapsed_ms"), int)
        self.assertEqual(once, again)

    def test_global_options_stand_anywhere(self):
        expected = self.vcm("scopes", "--json", check=0).out
        for words in (["--json", "scopes"], ["--home", self.home, "scopes", "--json"],
                      ["scopes", f"--home={self.home}", "--json"], ["-qv", "--json", "scopes"],
                      ["--no-color", "scopes", "--no-progress", "--json", "-q"],
                      ["scopes", "--json", "--"]):
            result = self.vcm(*words, check=0)
            self.assertEqual(result.out, expected, words)
        self.assertEqual(self.vcm("--json", "config", "get", "tokenizer", check=0).out,
                         self.vcm("config", "--json", "get", "tokenizer", check=0).out)


class Arguments(ContractTest):
    def test_options_take_their_value_in_two_ways(self):
        for words in (["pages", "--limit", "1"], ["pages", "--limit=1"]):
            self.vcm(*words, check=0)
        for words, name in ((["pages", "--limit"], "--limit"), (["--home"], "--home"),
                            (["pages", "--scope="], "--scope"), (["pages", "--home="], "--home"),
                            (["pages", "--pinned=yes"], "--pinned"), (["--quiet=1", "pages"], "--quiet")):
            self.assertIn(name, self.assert_error(self.vcm("--json", *words, check=2))["message"])

    def test_behind_two_dashes_everything_is_an_argument(self):
        self.vcm("config", "get", "--", "tokenizer", check=0)
        error = self.assert_error(self.vcm("--json", "page", "--", "--nope", check=1))
        self.assertNotIn("option", error["message"])
        self.assertIn("--nope", error["message"])
        repo = self.make_repo({"a": "a\n"}, name="-repo")
        self.assertEqual(self.map("--", os.path.basename(repo), check=2)["error"]["code"],
                         "INVALID_ARGUMENT")
        self.assertEqual(self.map("--", "./-repo")["status"], "mapped")

    def test_slips_get_a_suggestion(self):
        for words, suggestion in ((["mpa"], "map"), (["pagse"], "pages"), (["stats"], "stat"),
                                  (["config", "gte"], "config get"), (["Map"], "map"),
                                  (["pages", "--sate", "resident"], "--state"),
                                  (["map", "--jbos", "2"], "--jobs"),
                                  (["scopes", "--jsn"], "--json"),
                                  (["config", "get", "tokeniser"], "tokenizer")):
            result = self.vcm(*words, check=2)
            self.assertRegex(result.err, f"^vcm: [^\n]*did you mean '{suggestion}'\\?\n$")
        self.assertIn("vcm --help", self.vcm("xylophone", check=2).err)
        self.assertIn("vcm --help", self.vcm(check=2).out)
        self.assertIn("vcm --help", self.vcm("--json", check=2).json()["error"]["message"])
        self.assertIn("vcm --help", self.vcm("", check=2).err)

    def test_messages_stay_one_line_of_text(self):
        for words in (["a\nb\x1b[31m"], ["map", "--x\ny"], ["page", "a\nb\r\tc"], ["map", "no\nwhere"],
                      ["pages", "--scope", "a\nb"], ["pages", "--cursor", "\x1b/\x07"],
                      ["config", "get", "a\nb"], ["\xff\udcff"], ["page", "\udcff\udcfe"],
                      ["x" * 5000], ["map", "x" * 5000]):
            result = self.vcm(*words)
            self.assertIn(result.status, (1, 2), result)
            self.assertRegex(result.err, r"^vcm: [^\x00-\x1f\x7f]+\n$", words)
            self.assert_error(self.vcm(*words, "--json"))

    def test_missing_arguments_are_named(self):
        for words, name in ((["page"], "PAGE"), (["config", "set"], "KEY"),
                            (["config", "set", "cache.policy"], "VALUE"), (["completion"], "SHELL")):
            self.assertIn(name, self.vcm(*words, check=2).err)

    def test_quiet_prints_only_what_was_asked_for(self):
        repo = self.make_repo({"a": "a\n"})
        result = self.vcm("-q", "map", repo, check=0)
        self.assertEqual((result.out, result.err), ("", ""))
        self.assertEqual(self.vcm("-q", "config", "set", "cache.policy", "lru", check=0).out, "")
        self.assertEqual(self.vcm("-q", "config", "get", "cache.policy", check=0).out, "lru\n")
        self.assertIn("sample", self.vcm("-q", "map", "sample", check=1).err)


class Home(harness.VcmTest):
    def home_of(self, *args, **env):
        return self.vcm("stat", "--json", *args, env=env, check=0).json()["home"]

    def test_the_home_is_the_first_that_is_named(self):
        user = self.env["HOME"]
        everything = {"VCM_HOME": "/from/vcm", "XDG_DATA_HOME": "/from/xdg"}
        self.assertEqual(self.home_of("--home", "/from/option", **everything), "/from/option")
        self.assertEqual(self.home_of(**everything), "/from/vcm")
        self.assertEqual(self.home_of(VCM_HOME=None, XDG_DATA_HOME="/from/xdg"), "/from/xdg/vcm")
        self.assertEqual(self.home_of(VCM_HOME="", XDG_DATA_HOME="/from/xdg"), "/from/xdg/vcm")
        for xdg in (None, "", "relative"):
            self.assertEqual(self.home_of(VCM_HOME=None, XDG_DATA_HOME=xdg),
                             f"{user}/.local/share/vcm")
        result = self.vcm("stat", env={"VCM_HOME": None, "HOME": None}, check=2)
        self.assertIn("--home", result.err)

    def test_the_home_is_made_for_its_owner_alone(self):
        repo = self.make_repo({"a": "a\n"})
        for number, umask in enumerate((0, 0o022, 0o077)):
            before = os.umask(umask)
            self.addCleanup(os.umask, before)
            home = os.path.join(self.tmp, f"homes{number}", "deep", "home")
            self.vcm("config", "set", "tokenizer", "approx4", "--home", home, check=0)
            self.vcm("map", repo, "--home", home, check=0)
            os.umask(before)
            for path in (home, os.path.join(home, "store")):
                self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o700, path)
            mode = stat.S_IMODE(os.stat(os.path.join(home, "config.yaml")).st_mode)
            self.assertEqual(mode & 0o077, 0)

    def test_reading_makes_no_home(self):
        for words, status in ((["scopes"], 0), (["pages"], 0), (["stat"], 0), (["doctor"], 0),
                              (["config", "list"], 0), (["config", "get", "tokenizer"], 0),
                              (["completion", "bash"], 0), (["page", "abcdef"], 1),
                              (["pages", "--scope", "nothing"], 1), (["--help"], 0),
                              (["config", "set", "cache.policy", "best"], 2),
                              (["map", "/nowhere"], 1)):
            self.vcm(*words, check=status)
            self.assertFalse(os.path.exists(self.home), words)
        document = self.vcm("stat", "--json", check=0).json()
        self.assertEqual((document["scopes"], document["pages"]["total"], document["hit_ratio"]),
                         (0, 0, None))
        self.assertEqual(self.vcm("pages", "--json", check=0).json(),
                         {"pages": [], "next_cursor": None})
        self.assertEqual(self.vcm("scopes", "--json", check=0).json(), {"scopes": []})

    def test_reading_makes_no_store_in_an_empty_home(self):
        os.mkdir(self.home)
        for words in (["scopes"], ["pages"], ["stat"], ["doctor"], ["config", "list"]):
            self.vcm(*words, check=0)
        self.assertEqual(os.listdir(self.home), [])


class Terminal(ContractTest):
    def test_colour_only_on_a_terminal_that_wants_it(self):
        self.assertIn(ESC, self.vcm("--help", tty=True, check=0).out)
        self.assertIn(ESC, self.vcm("--help", tty=True, env={"NO_COLOR": ""}, check=0).out)
        for result in (self.vcm("--help", check=0),
                       self.vcm("--help", "--no-color", tty=True, check=0),
                       self.vcm("--help", tty=True, env={"NO_COLOR": "1"}, check=0),
                       self.vcm("--help", tty=True, env={"TERM": "dumb"}, check=0),
                       self.vcm("stat", "--json", tty=True, check=0),
                       self.vcm("mpa", tty="out", check=2),
                       self.vcm("mpa", "--no-color", tty=True, check=2)):
            self.assertNotIn(ESC, result.out + result.err, result)
        self.assertIn(ESC, self.vcm("mpa", tty="err", check=2).err)

    def test_results_and_errors_keep_to_their_streams_on_a_terminal(self):
        self.assertEqual(self.vcm("mpa", tty="out", check=2).out, "")
        self.assertEqual(self.vcm("scopes", tty="err", check=0).err, "")

    def slow_map(self, *options, **how):
        """A map that has to wait for another writer for longer than half a second."""
        repo = self.make_repo({"a": "a\n"}, name=f"repo{len(os.listdir(self.tmp))}")
        lock = harness.WriterLock(self.home)
        timer = threading.Timer(0.8, lock.release)
        timer.start()
        try:
            return self.vcm("map", repo, *options, check=0, **how)
        finally:
            timer.join()

    def test_progress_is_drawn_on_a_terminal_and_wiped(self):
        self.map_row(self.make_repo({"a": "a\n"}))
        drawn = self.slow_map("--json", tty="err")
        self.assertIn("files 1  pages ", drawn.err)
        self.assertTrue(drawn.err.endswith("\r\x1b[K"), repr(drawn.err))
        self.assertEqual(drawn.json()["status"], "mapped")
        for options, how in ((["-q"], {"tty": "err"}), (["--no-progress"], {"tty": "err"}),
                             ([], {}), ([], {"tty": "out"})):
            result = self.slow_map(*options, **how)
            self.assertNotRegex(result.err + result.out, r"files \d+  |\r\x1b", result)
            self.assertEqual("waiting for process" in result.err, options != ["-q"], result)

    def test_quick_work_draws_no_progress(self):
        result = self.vcm("map", self.make_repo({"a": "a\n"}), "--json", tty="err", check=0)
        if result.json()["elapsed_ms"] < 400:
            self.assertEqual(result.err, "")
