"""The programs of docs/library.md and README.md, as they are printed there."""

import os
import re
import subprocess
import sys
import tempfile
import textwrap
import unittest

import build

DOCUMENT = os.path.join(build.SOURCE, "docs", "library.md")
README = os.path.join(build.SOURCE, "README.md")


def program(language, document=DOCUMENT):
    with open(document, encoding="utf-8") as file:
        found = re.findall(rf"```{language}\n(.*?)```", file.read(), flags=re.DOTALL)
    assert len(found) == 1, f"{len(found)} programs in {language}"
    return found[0]


class Document(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder = place.name
        self.repo = os.path.join(self.folder, "repo")
        build.write(os.path.join(self.repo, "src", "hello.c"), "int hello;\n" * 200)
        build.write(os.path.join(self.repo, "README"), "A repository.\n")
        git = ["git", "-C", self.repo, "-c", "user.name=t", "-c", "user.email=t@example.org"]
        for arguments in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "first"]):
            build.run([*git, *arguments])
        self.environment = {**os.environ, "VCM_HOME": os.path.join(self.folder, "home"),
                            "LD_LIBRARY_PATH": os.path.join(build.BUILD, "lib")}

    def run_program(self, command, **environment):
        done = subprocess.run([*command, self.repo], env={**self.environment, **environment},
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def test_the_c_program_runs_as_it_is_printed(self):
        source, binary = os.path.join(self.folder, "p.c"), os.path.join(self.folder, "p")
        build.write(source, program("c"))
        build.run([build.CC, "-std=c11", *build.ALL_WARNINGS, *build.FLAGS, "-I", build.HEADERS,
                   source, "-o", binary, "-L", os.path.join(build.BUILD, "lib"), "-lvcm"])
        first = self.run_program([binary])
        self.assertRegex(first, r'\Amapped\n[0-9a-f]{12}  \d+ tokens  README\n(.*\n)*\{"path":')
        self.assertIn("already_mapped\n", self.run_program([binary]))

    def run_python(self, text):
        source = os.path.join(self.folder, "p.py")
        build.write(source, text)
        preload = os.environ.get("VCM_PRELOAD", "")
        extra = {"LD_PRELOAD": preload, "ASAN_OPTIONS": "detect_leaks=0"} if preload else {}
        return self.run_program([sys.executable, "-B", source], PYTHONPATH=os.path.join(
            build.SOURCE, "bindings", "python"), **extra)

    def test_the_lines_of_the_readme_make_a_prompt(self):
        out = self.run_python(
            "import asyncio, os, sys, vcm\nos.chdir(sys.argv[1])\n\nasync def main():\n"
            "    prompt = ''\n" + textwrap.indent(program("python", README), "    ")
            + "    print(prompt)\n\nasyncio.run(main())\n")
        self.assertRegex(out, r"\A## `README` \(lines 1-1\)\n\n```\w*\nA repository\.\n```\n")
        self.assertIn("int hello;", out)

    def test_the_python_program_runs_as_it_is_printed(self):
        out = self.run_python(program("python"))
        self.assertRegex(out, r'\Aacme:colony mapped \n(.*tokens.*\n)+## `README` \(lines 1-1\)\n'
                              r'\{"path":.*\nagent-7\n\Z')


if __name__ == "__main__":
    unittest.main()
