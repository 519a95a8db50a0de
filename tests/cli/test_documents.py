"""What the documents show is what happens: their sessions are run and the output compared, and the
commands, options, files and links that their text names are looked up.

Ids, numbers, sizes and times may differ from those that a document shows, and so may the width of
columns; words and the number of lines may not. A line with nothing but … stands for any number of
lines. Ids that a command names are those that the session printed in the place of the shown ones.

    VCM_PROGRAM=build/release/cli/vcm python3 tests/cli/test_documents.py --update [DOCUMENT...]

writes the real output into the named documents, or into those whose output differs.
"""

import difflib
import os
import re
import subprocess
import sys
import unittest

import document_places
import documents
import harness
import test_help

SHELL = 'cd "$1" && eval "$2"; status=$?; pwd > "$3"; exit $status'
SOURCE_FOLDERS = ("base", "tokens", "git", "vcm", "lfs", "kb", "sources", "repomap", "symbols", "api", "ops",
                  "cli")
README_LINES_MAX = 160


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


class DocumentTest(test_help.HelpTest):
    def setUp(self):
        super().setUp()
        self.place = document_places.Place(self.tmp, self.run_quietly)
        programs = os.path.join(self.tmp, "bin")
        os.mkdir(programs)
        os.symlink(os.path.abspath(self.program), os.path.join(programs, "vcm"))
        self.env = {**self.env, "HOME": self.place.ada,
                    "GIT_CONFIG_GLOBAL": os.path.join(self.place.ada, ".gitconfig"),
                    "GIT_AUTHOR_DATE": document_places.DATE,
                    "GIT_COMMITTER_DATE": document_places.DATE,
                    "PATH": f"{programs}:{self.env['PATH']}"}
        del self.env["VCM_HOME"]

    def run_quietly(self, arguments, folder):
        subprocess.run(arguments, cwd=folder, env=self.env, check=True, capture_output=True,
                       timeout=harness.TIMEOUT_SECONDS)

    def run_step(self, command, folder):
        """What a command prints on a terminal, and the directory that it leaves the shell in."""
        ended_in = os.path.join(self.tmp, "pwd")
        for name in ("/srv/", "/home/ada/"):
            command = command.replace(name, self.tmp + name)
        command = command.replace("./scripts/vcm", "vcm")
        run = subprocess.run(["bash", "-c", SHELL, "-", folder, command, ended_in], env=self.env,
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, check=False,
                             timeout=harness.TIMEOUT_SECONDS)
        out = run.stdout.decode("utf-8", "surrogateescape")
        self.assert_no_crash(harness.Result([command], run.returncode, b"", run.stdout))
        with open(ended_in, encoding="utf-8") as file:
            folder = file.read().rstrip("\n")
        lines = documents.without_blank_end(out.replace(self.tmp, "").split("\n"))
        return lines, folder

    def run_session(self, document):
        """Runs all commands of a document; yields each step with what is shown and printed, and
        what the ids of the document are called this time."""
        self.place.begin()
        folder = document_places.PLACES[document.path](self.place, document)
        ids = {}
        for step in document.steps():
            command = documents.NAMED_ID.sub(lambda found: documents.rename(found[0], ids),
                                             step.command)
            printed, folder = self.run_step(command, folder)
            shown = document.output(step)
            documents.learn_ids(ids, shown, printed)
            yield step, shown, printed, ids


class Sessions(DocumentTest):
    def test_every_session_runs_and_prints_what_is_shown(self):
        count = 0
        for path in documents.paths():
            document = documents.Document(path)
            if not document.steps():
                continue
            self.assertIn(path, document_places.PLACES, "where do its commands run?")
            for step, shown, printed, _ in self.run_session(document):
                count += 1
                with self.subTest(document=path, line=step.line + 1):
                    if not documents.same_output(shown, printed):
                        self.fail(f"{path}:{step.line + 1}: $ {step.command}\n" + "\n".join(
                            difflib.unified_diff(shown, printed, "shown", "printed", lineterm="")))
        self.assertGreater(count, 20)

    def test_the_maps_that_are_shown_are_valid(self):
        for path in documents.paths():
            maps = [text for text in documents.Document(path).fences("yaml")
                    if text.startswith("schema_version:")]
            # tests/repomap/test_docs.c goes through the examples of the manual, with their errors.
            for number, text in enumerate(maps if path != "docs/repo-map.md" else []):
                with self.subTest(document=path):
                    self.place.begin()
                    repo = self.place.repository(f"r{number}", {".colony/repo_map.yaml": text})
                    found = self.vcm("check", repo, "--json", check=0).json()
                    self.assertEqual(found["errors"], [])


class Text(DocumentTest):
    def test_commands_and_their_options_exist(self):
        known = {command.name: command for command in self.commands()}
        checked = 0
        for path in [*documents.paths(), "CHANGELOG.md"]:
            for line in documents.Document(path).commands():
                for name, options in command_lines(line, known):
                    checked += 1
                    with self.subTest(document=path, command=line):
                        self.assertIsNotNone(name, "there is no such command")
                        allowed = [*test_help.GLOBALS, *(known[name].options if name in known else [])]
                        self.assertEqual([word for word in options if word not in allowed], [])
        self.assertGreater(checked, 60)

    def test_files_and_links_lead_somewhere(self):
        for path in documents.paths():
            document = documents.Document(path)
            folder = os.path.dirname(path)
            for link in document.links():
                with self.subTest(document=path, link=link):
                    self.assertTrue(os.path.exists(os.path.join(documents.ROOT, folder, link)))
            for name in document.source_paths():
                with self.subTest(document=path, file=name):
                    self.assertTrue(name.startswith((".colony/", "build/"))
                                    or os.path.exists(os.path.join(documents.ROOT, name))
                                    or os.path.exists(os.path.join(documents.ROOT, folder, name)))

    def test_functions_that_are_named_exist(self):
        sources = ""
        for top in SOURCE_FOLDERS:
            for folder, _, names in os.walk(os.path.join(documents.ROOT, top)):
                for name in names:
                    if name.endswith((".c", ".h")):
                        sources += read(os.path.join(folder, name))
        known = set(re.findall(r"\bvcm_\w+(?=\()", sources))
        checked = 0
        for path in documents.paths():
            for name in re.findall(r"\bvcm_\w+(?=\()", read(os.path.join(documents.ROOT, path))):
                checked += 1
                with self.subTest(document=path, function=name):
                    self.assertIn(name, known)
        self.assertGreater(checked, 20)

    def test_the_readme_stays_short(self):
        self.assertLessEqual(len(documents.Document("README.md").lines), README_LINES_MAX + 1)


class Comparison(unittest.TestCase):
    """How a document that lies is told from one that was written on another day."""

    SHOWN = ["PAGE          TOKENS  STATE", "6aed64ed6d51   3,877  resident", "mapped in 456 ms, 5.6 MiB"]

    def test_what_differs_from_run_to_run_may_differ(self):
        self.assertTrue(documents.same_output(self.SHOWN, [
            "PAGE           TOKENS  STATE", "0123456789ab  13,877  resident",
            "mapped in 1.2 s, 900.0 KiB"]))

    def test_words_and_the_number_of_lines_may_not(self):
        for at, old, new in ((0, "STATE", "STATUS"), (1, "resident", "evicted"), (1, "3,877", "none"),
                             (2, "mapped", "remapped"), (2, "456 ms", "456")):
            printed = list(self.SHOWN)
            printed[at] = printed[at].replace(old, new)
            self.assertFalse(documents.same_output(self.SHOWN, printed), new)
        self.assertFalse(documents.same_output(self.SHOWN, self.SHOWN[:2]))
        self.assertFalse(documents.same_output(self.SHOWN, [*self.SHOWN, "more"]))

    def test_an_elision_stands_for_lines_between_those_that_are_shown(self):
        shown = ["a", documents.ELISION, "z"]
        for printed, same in ((["a", "b", "c", "z"], True), (["a", "z"], True), (["a"], False),
                              (["b", "c", "z"], False), (["a", "b", "y"], False)):
            self.assertEqual(documents.same_output(shown, printed), same, printed)

    def test_a_command_that_does_not_exist_is_told(self):
        known = {"map": None, "kb list": None, "kb show": None, "refs": None}
        for line, found in (("vcm map --jobs 2 .", [("map", ["--jobs"])]),
                            ("vcm kb list|show [--limit N]", [("kb list", ["--limit"]),
                                                              ("kb show", ["--limit"])]),
                            ("vcm kb", [("", [])]), ("vcm COMMAND --help", [("", ["--help"])]),
                            ("vcm refs NAME", [("refs", [])]), ("vcm mop", [(None, [])]),
                            ("vcm kb find x", [(None, [])])):
            self.assertEqual(command_lines(line, known), found, line)


def command_lines(line, known):
    """(name of the command, its options) of a command line as documents write it: [--option], a|b for
    one of two, words in capitals for what a person puts there. The name is None when there is no
    such command, and "" where the line names none."""
    words = line.replace("[", " ").replace("]", " ").split("|  ")[0].split()[1:]
    options = [word.split("=")[0].rstrip(",.;") for word in words if word.startswith("--")]
    options = [part for word in options for part in word.split("|") if part != "--"]
    plain = [word for word in words if not word.startswith("-")]
    if not plain or plain[0].isupper():
        return [("", options)]
    found = []
    for first in plain[0].split("|"):
        for second in plain[1].split("|") if len(plain) > 1 else [""]:
            found.append((next((name for name in (f"{first} {second}", first) if name in known),
                               family(first, second, known)), options))
    return found


def family(first, second, known):
    return "" if not second and any(name.startswith(first + " ") for name in known) else None


class Update(DocumentTest):
    """Not a test: writes what happens into the documents."""

    def update(self):
        for path in self.named or list(document_places.PLACES):
            document = documents.Document(path)
            outputs, same, ids = [], True, {}
            for step, shown, printed, ids in self.run_session(document):
                same = same and documents.same_output(shown, printed)
                outputs.append((step, shorten(shown, printed)))
            if same and not self.named:
                continue
            document.rename_ids(ids)
            for step, lines in reversed(outputs):
                document.lines[step.begin:step.end] = [(step.indent + line).rstrip()
                                                       for line in lines]
            document.write()
            print(f"{path}: written")


def shorten(shown, printed):
    """What was printed, with the middle left out that the document leaves out."""
    if documents.ELISION not in shown:
        return printed
    at = shown.index(documents.ELISION)
    behind = len(shown) - at - 1
    return [*printed[:at], documents.ELISION, *printed[len(printed) - behind:]]


def main(arguments):
    if arguments[:1] != ["--update"]:
        return unittest.main()
    test = Update("update")
    test.named = arguments[1:]
    result = unittest.TextTestRunner().run(test)
    return 0 if result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
