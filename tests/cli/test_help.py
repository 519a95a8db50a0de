"""Help, manual and completions say the same as the table of operations."""

import os
import re
import shlex
import subprocess

import harness

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
GLOBALS = ["--home", "--json", "--quiet", "--verbose", "--no-color", "--no-progress", "--help",
           "--version"]


class Command:
    """A command as its own help describes it."""

    def __init__(self, name, text):
        self.name = name
        self.text = text
        sections = re.split(r"\n\n(?=[A-Z][^\n]*\n  )", text)
        self.sections = {part.split("\n", 1)[0]: part.split("\n", 1)[1] for part in sections[1:]}
        self.options = re.findall(r"^  (?:-[A-Za-z0-9], )?(--[a-z-]+)", self.sections.get("Options", ""), re.M)
        self.keys = re.findall(r"^  ([a-z_]+)  ",
                               self.sections.get("Keys of the JSON document", ""), re.M)
        self.examples = re.findall(r"^  (vcm .*)$", self.sections.get("Examples", ""), re.M)

    def choices(self):
        """The words behind "--option X  summary: a, b, c", of options and arguments."""
        for section in ("Options", "Arguments"):
            body = re.sub(r"\n {4,}", " ", self.sections.get(section, ""))
            for line in body.splitlines():
                found = re.search(r": ([a-z0-9]+(?:, [a-z0-9]+)+)", line)
                if found:
                    yield from found.group(1).split(", ")


class HelpTest(harness.VcmTest):
    _commands = None  # the same for every test of a run

    def commands(self):
        if HelpTest._commands is None:
            HelpTest._commands = self._read_commands()
        return HelpTest._commands

    def _read_commands(self):
        overview = self.vcm("--help", check=0).out
        body = re.search(r"\nCommands\n(.*?)\n\n", overview, re.S).group(1)
        names = [re.match(r"  (\S+(?: \S+)*?)  +(\S.*)$", line).group(1)
                 for line in body.splitlines()]
        self.assertGreater(len(names), 8)
        return [Command(name, self.vcm(*name.split(), "--help", check=0).out) for name in names]


class Help(HelpTest):
    def test_every_command_has_one_line_and_a_page_with_examples(self):
        names = [command.name for command in self.commands()]
        for name in ("map", "scopes", "pages", "page", "stat", "doctor", "config list",
                     "config get", "config set", "completion"):
            self.assertIn(name, names)
        self.assertEqual(len(set(names)), len(names))
        for command in self.commands():
            with self.subTest(command=command.name):
                self.assertTrue(command.text.startswith(f"vcm {command.name} - "))
                self.assertIn(f"\nUsage: vcm {command.name}", command.text)
                self.assertTrue(command.examples)
                self.assertTrue(command.keys)
                for option in GLOBALS:
                    self.assertIn(option, command.text)
                for line in command.text.splitlines():
                    self.assertLessEqual(len(line), 80, line)

    def test_examples_are_commands_that_parse(self):
        env = {"HOME": os.path.join(self.tmp, "nowhere"), "VCM_HOME": None}
        for command in self.commands():
            for example in command.examples:
                words = shlex.split(example.split("|")[0].split(">")[0])
                self.assertTrue(example.startswith(f"vcm {command.name}"), example)
                words = [word for word in words if word != "--json"]
                result = self.vcm(*words[1:], "--help", env=env, check=0)
                self.assertEqual(result.out, command.text, example)
                self.assertEqual(result.err, "", example)

    def test_help_wins_wherever_it_stands_and_needs_no_home(self):
        expected = self.vcm("map", "--help", check=0).out
        for words in (["--help", "map"], ["-h", "map"], ["map", "x", "-h"],
                      ["map", "--jobs", "2", "--help"]):
            self.assertEqual(self.vcm(*words, check=0).out, expected, words)
        self.assertEqual(self.vcm("page", "--help", check=0).err, "")
        self.assertFalse(os.path.exists(self.home))

    def test_help_and_version_are_one_document_with_json(self):
        self.assertEqual(list(self.vcm("--help", "--json", check=0).json()), ["help"])
        self.assertRegex(self.vcm("--version", "--json", check=0).json()["version"],
                         r"^vcm \d+\.\d+\.\d+$")
        self.assertRegex(self.vcm("--version", check=0).out, r"^vcm \d+\.\d+\.\d+\n$")

    def test_help_is_a_command_too(self):
        self.assertEqual(self.vcm("help", check=0).out, self.vcm("--help", check=0).out)
        for words in (["map"], ["config", "set"], ["config"], ["help"]):
            self.assertEqual(self.vcm("help", *words, check=0).out,
                             self.vcm(*words, "--help", check=0).out)
        document = self.vcm("help", "map", "--json", check=0).json()
        self.assertEqual(document, self.vcm("map", "--help", "--json", check=0).json())
        self.assertIn("did you mean 'map'?", self.vcm("help", "mapp", check=2).err)
        self.assertIn("config sat", self.vcm("help", "config", "sat", check=2).err)
        self.assertIn("third", self.vcm("help", "config", "set", "third", check=2).err)
        self.assertFalse(os.path.exists(self.home))

    def test_who_types_no_command_sees_five_to_begin_with(self):
        result = self.vcm(check=2)
        self.assertEqual(result.err, "")
        lines = re.findall(r"^  (vcm \S.*?)  +\S", result.out, re.M)
        self.assertEqual(len(lines), 5)
        self.assertEqual(lines[:2], ["vcm map", "vcm repo map"])
        names = [command.name for command in self.commands()]
        for line in lines:
            words = line.split()[1:]
            self.assertTrue(words[0] in names or " ".join(words[:2]) in names, line)

    def test_a_family_lists_its_commands(self):
        out = self.vcm("config", "--help", check=0).out
        for name in ("config list", "config get", "config set"):
            self.assertIn(f"  {name}  ", out)
        result = self.vcm("config", check=2)
        self.assertIn("vcm config --help", result.err)


class Manual(HelpTest):
    def manual(self):
        program = os.path.join(os.path.dirname(self.program), "vcm-man")
        return subprocess.run([program], env=self.env, check=True, capture_output=True,
                              text=True).stdout

    def test_the_manual_in_the_tree_is_the_one_that_the_table_gives(self):
        with open(os.path.join(ROOT, "docs/man/vcm.1"), encoding="utf-8") as file:
            self.assertEqual(file.read(), self.manual(), "make it anew with build/*/cli/vcm-man")

    def test_the_manual_knows_every_command_option_and_choice(self):
        text = self.manual().replace("\\-", "-")
        for option in GLOBALS:
            self.assertIn(option, text)
        for command in self.commands():
            start = re.search(rf"^\.SS vcm {command.name}(?= [^a-z]|$)", text, re.M).start()
            section = text[start:text.index("\n.S", start + 1)]
            for word in [*command.options, *command.choices(), *command.examples]:
                self.assertIn(word.replace("'", "\\(aq"), section, command.name)

    def test_the_manual_is_good_roff(self):
        run = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-z"], input=self.manual(), text=True,
                             capture_output=True, check=True)
        self.assertEqual(run.stderr, "")


class Completions(HelpTest):
    def test_every_shell_knows_every_command_option_and_choice(self):
        commands = self.commands()
        for shell in ("bash", "zsh", "fish"):
            script = self.vcm("completion", shell, check=0).out
            for command in commands:
                words = [*command.name.split(), *command.choices()]
                dashes = "-l " if shell == "fish" else "--"
                words += [dashes + option[2:] for option in [*command.options, *GLOBALS]]
                for word in words:
                    self.assertRegex(script, re.escape(word) + r"(?![a-z-])",
                                     f"{shell}: {command.name}")

    def test_an_unknown_shell_is_refused(self):
        result = self.vcm("completion", "tcsh", check=2)
        self.assertIn("bash, zsh, fish", result.err)

    def test_the_other_shells_accept_their_scripts(self):
        for shell, arguments in (("zsh", ["-n"]), ("fish", ["--no-execute"])):
            path = os.path.join(self.tmp, shell)
            with open(path, "w", encoding="utf-8") as file:
                file.write(self.vcm("completion", shell, check=0).out)
            subprocess.run([shell, *arguments, path], env=self.env, check=True)


class Bash(HelpTest):
    def complete(self, *words):
        """What bash offers for the last of the words."""
        program = self.program
        script = (f"source <({shlex.quote(program)} completion bash) || exit 1; set -u; "
                  f"COMP_WORDS=(vcm {' '.join(map(shlex.quote, words))}); "
                  f"COMP_CWORD={len(words)}; COMPREPLY=(); _vcm; "
                  "for word in ${COMPREPLY+\"${COMPREPLY[@]}\"}; do printf '%s\\n' \"$word\"; done")
        run = subprocess.run(["bash", "--norc", "-c", script], cwd=self.tmp, env=self.env,
                             capture_output=True, text=True, check=True)
        self.assertEqual(run.stderr, "")
        return run.stdout.splitlines()

    def test_commands(self):
        self.assertEqual(self.complete("ma"), ["map"])
        self.assertEqual(sorted(self.complete("pa")), ["page", "pages"])
        self.assertIn("config", self.complete(""))
        self.assertEqual(self.complete("zzz"), [])
        self.assertEqual(self.complete("--json", "ma"), ["map"])
        self.assertEqual(self.complete("--home", "map", "st"), ["stat"])

    def test_commands_of_a_family(self):
        self.assertEqual(sorted(word for word in self.complete("config", "")
                                if not word.startswith("-")), ["get", "list", "set"])
        self.assertEqual(self.complete("config", "se"), ["set"])

    def test_options(self):
        self.assertEqual(sorted(self.complete("map", "--fl")),
                         ["--flush-threshold", "--flush-token-budget"])
        self.assertEqual(self.complete("map", "--js"), ["--json"])
        self.assertEqual(self.complete("scopes", "--fl"), [])
        self.assertEqual(self.complete("map", "pages", "--fl"), self.complete("map", "--fl"))

    def test_choices(self):
        self.assertEqual(self.complete("pages", "--state", ""),
                         ["resident", "compressed", "evicted"])
        self.assertEqual(self.complete("pages", "--state", "e"), ["evicted"])
        # bash splits words at '='.
        self.assertEqual(self.complete("pages", "--state", "=", "e"), ["evicted"])
        self.assertEqual(len(self.complete("pages", "--state", "=")), 3)
        self.assertEqual(self.complete("completion", "z"), ["zsh"])

    def test_directories(self):
        os.makedirs(os.path.join(self.tmp, "a dir", "inner"))
        self.assertEqual(self.complete("map", "a"), ["a dir"])
        self.assertEqual(self.complete("map", "--home", "a"), ["a dir"])
        self.assertEqual(self.complete("scopes", "a"), [])
