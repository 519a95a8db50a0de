"""vcm schema: what commands print is described, and what is described is what they print."""

import copy
import json
import os
import re

import validated
import harness

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MAP = ("schema_version: 1\nsources:\n  - {name: code, type: git_repo, start_dir: src}\n"
       "knowledge_routing:\n  - {paths: ['papers/**']}\n")
FILES = {"src/a.c": "int add(int a)\n{\n    return a;\n}\nint twice(int a)\n{\n    return add(add(a));\n}\n",
         "papers/p.md": "# Pages\n\nPages are evicted.\n", ".colony/repo_map.yaml": MAP}


class EveryCommand(harness.VcmTest):
    """Runs each command once with success and once with failure; run.py then validates all of it."""

    def setUp(self):
        super().setUp()
        self.repo = self.make_repo(FILES)
        self.git(self.repo, "config", "user.name", "A Tester")
        self.git(self.repo, "config", "user.email", "tester@example.com")
        self.file = os.path.join(self.tmp, "file")
        self.write(self.tmp, {"file": "no directory\n"})

    def succeed(self, *words, check=0, **options):
        result = self.vcm(*words, "--json", check=check, **options)
        found = result.json_lines() if words[0] in ("watch", "top") else [result.json()]
        self.assertFalse(any(map(validated.is_failure, found)), result)
        return found[0]

    def fail_with(self, *words):
        result = self.vcm(*words, "--json")
        self.assertIn(result.status, (1, 2), result)
        self.assertTrue(validated.is_failure(result.json()), result)

    def map_and_read(self):
        for words in (("check",), ("preview",), ("show", "--tree", "--raw"), ("map", "--dry-run"), ("map",)):
            self.succeed(words[0], self.repo, *words[1:])
        scope = self.succeed("scopes")["scopes"][0]["scope_id"]
        page = self.succeed("pages")["pages"][0]["page_id"]
        for words in (("coverage", scope), ("find", "src/a.c:2"), ("page", page), ("read", page),
                      ("grep", "a", "--scope", scope), ("outline", "--scope", scope), ("evict", page),
                      ("fault", page), ("lock", page, "--ttl", "1m"), ("unlock", page), ("pin", page),
                      ("unpin", page), ("stat",), ("top", "--count", "1"), ("verify",), ("gc",)):
            self.succeed(*words)
        self.write(self.tmp, {"trace": f"0 {page} 10\n1 {page} 10\n"})
        self.succeed("trace", "replay", "trace")
        self.succeed("trace", "record", "--duration", "10ms")
        self.succeed("unmap", scope)

    def look_around(self):
        for words in (("repo", "fetch", self.repo), ("repo", "map", self.repo), ("symbols", self.repo),
                      ("refs", "add", self.repo), ("diff", "HEAD..HEAD", self.repo), ("lfs", "status", self.repo), ("lfs", "pull"),
                      ("tokens", self.file), ("kb", "ingest", self.file), ("kb", "list"), ("kb", "stat"),
                      ("config", "list"), ("config", "get", "tokenizer"),
                      ("config", "set", "mmap.pinned", "false"), ("completion", "bash"), ("help", "map"),
                      ("schema",),
                      ("schema", "kb", "search"), ("schema", "--error"), ("mcp", "--describe"), ("doctor",),
                      ("promote", "papers/p.md", "--repo", self.repo),
                      ("init", self.repo, "--no-push", "--no-lfs")):
            self.succeed(*words)
        hit = self.succeed("kb", "search", "directory")["hits"][0]
        self.succeed("kb", "show", hit["chunk_id"])
        self.succeed("kb", "clear", "--all")

    def watch(self):
        run = self.start("map", self.repo, "--watch", "--json")
        self.assertEqual(json.loads(run.stdout.readline())["status"], "mapped")
        run.terminate()
        run.communicate(timeout=60)
        # One that is not mapped yet: all its pages are new.
        run = self.start("watch", self.repo, "--scope", "other", "--json")
        line = run.stdout.readline()
        validated.add(run.args[1:], line)
        self.assertEqual(json.loads(line)["event"], "page_added")
        run.terminate()
        run.communicate(timeout=60)

    def serve(self):
        run = self.start("serve", "--listen", "127.0.0.1:0", "--json")
        line = run.stdout.readline()
        validated.add(run.args[1:], line)
        self.assertEqual(json.loads(line)["event"], "listening")
        run.terminate()
        run.communicate(timeout=60)

    def fail_everywhere(self):
        nowhere, no_home = os.path.join(self.tmp, "nowhere"), ("--home", self.file)
        for words in (("init",), ("map",), ("watch",), ("check",), ("preview",), ("show",), ("repo", "fetch"),
                      ("repo", "map"), ("symbols",), ("refs", "add"), ("diff", "HEAD"), ("lfs", "status"), ("tokens",),
                      ("trace", "replay"), ("promote", "a", "--repo")):
            self.fail_with(*words, nowhere)
        for words in (("scopes",), ("stat",), ("top",), ("verify",), ("gc",), ("trace", "record"),
                      ("kb", "search", "x"), ("kb", "list"), ("kb", "stat"), ("config", "list")):
            self.fail_with(*no_home, *words)
        for words in (("unmap", "nothing"), ("coverage", "nothing"), ("pages", "--scope", "nothing"),
                      ("find", "nothing"), ("grep", "a("), ("page", "000000"), ("read", "000000"),
                      ("outline", "000000"), ("fault", "000000"),
                      ("lock", "000000", "--ttl", "1m"), ("unlock", "000000"), ("pin", "nothing"),
                      ("unpin", "nothing"), ("evict",), ("kb", "ingest"), ("kb", "show", "000000"),
                      ("kb", "clear"), ("config", "get", "nothing"), ("config", "set", "nothing", "1"),
                      ("lfs", "pull", "--scope", "nothing"), ("completion", "tcsh"), ("schema", "nothing"),
                      ("help", "nothing"), ("mcp", "--root", "/"), ("serve", "--root", "/"), ("doctor", "--nothing")):
            self.fail_with(*words)

    def test_every_command_is_held_against_its_description_with_success_and_failure(self):
        self.map_and_read()
        self.look_around()
        self.watch()
        self.serve()
        self.fail_everywhere()
        names = set(validated.schemas()["commands"])
        recorded = validated.recorded()
        self.assertGreater(len(names), 40)
        self.assertEqual(names - {name for name, failed in recorded if not failed}, set(),
                         "no success was validated")
        self.assertEqual(names - {name for name, failed in recorded if failed}, set(),
                         "no failure was validated")


class Schema(harness.VcmTest):
    def objects(self, schema, place="#"):
        """Every schema in it that has properties, with its place."""
        if isinstance(schema, dict):
            if "properties" in schema:
                yield place, schema
            for key, value in schema.items():
                yield from self.objects(value, f"{place}/{key}")
        elif isinstance(schema, list):
            for value in schema:
                yield from self.objects(value, place)

    def test_a_command_has_its_own_and_the_list_has_all(self):
        everything = self.vcm("schema", "--json", check=0).json()
        self.assertEqual(list(everything), ["commands", "error"])
        for name in ("stat", "map", "kb search", "schema"):
            self.assertEqual(self.vcm("schema", *name.split(), "--json", check=0).json(),
                             everything["commands"][name])
        for name, schema in everything["commands"].items():
            with self.subTest(command=name):
                self.assertEqual(schema["$schema"], "https://json-schema.org/draft/2020-12/schema")
                self.assertEqual(schema["title"], f"vcm {name}")
                self.assertEqual(schema["type"], "object")
        self.assertEqual(self.vcm("schema", "--error", "--json", check=0).json(), everything["error"])
        self.assertFalse(os.path.exists(self.home))

    def test_for_a_person_it_is_the_same_over_several_lines(self):
        for words in (["stat"], ["config", "get"], ["show"], ["--error"]):
            text = self.vcm("schema", *words, check=0).out
            self.assertEqual(json.loads(text), self.vcm("schema", *words, "--json", check=0).json())
            self.assertGreater(len(text.splitlines()), 20)
        listing = self.vcm("schema", check=0).out.splitlines()
        self.assertEqual([re.split(r"  +", line)[0].strip() for line in listing],
                         [name.strip() for name in validated.schemas()["commands"]])

    def test_what_is_no_command_is_refused(self):
        self.assertIn("did you mean 'stat'", self.vcm("schema", "stats", check=2).err)
        self.assertIn("vcm schema", self.vcm("schema", "config", "everything", check=2).err)
        self.assertIn("--error", self.vcm("schema", "stat", "--error", check=2).err)

    def test_every_member_is_described_and_nothing_else_is_allowed(self):
        everything = validated.schemas()
        for name, schema in [*everything["commands"].items(), ("error", everything["error"])]:
            for place, described in self.objects(schema):
                with self.subTest(command=name, place=place):
                    if name != "schema":
                        self.assertIs(described["additionalProperties"], False)
                    self.assertLessEqual(set(described["required"]), set(described["properties"]))
                    for member in described["properties"].values():
                        self.assertTrue(member["description"])

    def test_the_keys_of_help_are_those_of_the_schema(self):
        for name, schema in validated.schemas()["commands"].items():
            described = schema.get("anyOf", [schema])[0]["properties"]
            text = self.vcm(*name.split(), "--help", check=0).out
            section = text.split("\nKeys of the JSON document\n")[1]
            keys = re.findall(r"^  ([a-z_]+)  ", section, re.M)
            optional = re.findall(r"^  also with .*:\n +(.*)$", section, re.M)
            keys += optional[0].split(", ") if optional else []
            self.assertEqual(sorted(keys), sorted(described), name)

    def test_the_codes_of_a_failure_are_those_of_the_library(self):
        with open(os.path.join(ROOT, "base", "public.h"), encoding="utf-8") as file:
            body = re.search(r"enum vcm_code \{(.*?)\}", file.read(), re.S).group(1)
        codes = re.findall(r"^    VCM_(\w+)", body, re.M)
        self.assertEqual(codes[0], "OK")
        error = validated.schemas()["error"]["properties"]["error"]
        self.assertEqual(error["properties"]["code"]["enum"], codes[1:])


class Checking(harness.VcmTest):
    """The check itself: a description that is wrong in any way is found."""

    def check(self, change):
        schemas = copy.deepcopy(validated.schemas())
        change(schemas["commands"]["stat"])
        document = self.vcm("stat", "--json", check=0).json()
        return validated.validate(schemas, [{"command": "stat", "failed": False, "words": "stat",
                                             "document": document}])

    def test_a_wrong_description_is_found(self):
        self.assertIsNone(self.check(lambda schema: None))
        changes = {
            "a member too many": lambda s: s["required"].append("more"),
            "a member too few": lambda s: s["properties"].pop("policy"),
            "another type": lambda s: s["properties"]["tokens"].update(type="string"),
            "never null": lambda s: s["properties"]["hit_ratio"].update(type="number"),
            "another word": lambda s: s["properties"]["policy"].update(enum=["fifo"]),
            "an inner member": lambda s: s["properties"]["pages"]["properties"].pop("locked"),
            "no schema": lambda s: s.update(type="thing"),
        }
        for what, change in changes.items():
            with self.subTest(what):
                self.assertIn("stat", self.check(change) or "")

    def test_commands_are_told_by_their_words(self):
        names = validated.schemas()["commands"]
        for words, expected in ((["stat", "--json"], "stat"), (["--home", "map", "--json", "stat"], "stat"),
                                (["kb", "--json", "search", "x"], "kb search"), (["kb"], None),
                                (["--home=x", "config", "get", "tokenizer"], "config get"), ([], None),
                                (["repo", "map", "."], "repo map"), (["nothing"], None)):
            self.assertEqual(validated.command_of(words, names), expected, words)
        self.assertFalse(validated.wants_json(["stat", "--json", "--help"]))
        self.assertTrue(validated.wants_json(["page", "x", "--format", "json"]))
