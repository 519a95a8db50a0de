"""The wheel in a fresh virtual environment, without a network, and the program of docs/python.md."""

import os
import re
import subprocess
import sys
import venv
import zipfile

import fixture

MAKE = os.path.join(fixture.ROOT, "bindings", "python", "make_wheel.py")
DOCUMENT = os.path.join(fixture.ROOT, "docs", "python.md")


def program():
    with open(DOCUMENT, encoding="utf-8") as file:
        return re.search(r"```python\n(.*?)```", file.read(), re.S).group(1)


class Wheel(fixture.Case):
    def make(self):
        done = subprocess.run([sys.executable, MAKE, os.environ["VCM_LIBRARY"],
                               os.environ["VCM_EXTRACT"], self.folder], check=True, text=True,
                              stdout=subprocess.PIPE)
        return done.stdout.strip()

    def run_program(self, *command, **environment):
        own = {name: value for name, value in fixture.INTERPRETER.items()
               if name not in ("VCM_LIBRARY", "VCM_PROGRAM", "VCM_EXTRACT", "PYTHONPATH")}
        done = subprocess.run(command, env={**own, "VCM_HOME": self.home, **environment},
                              cwd=self.folder, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=300, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    async def test_it_installs_and_the_program_of_the_document_runs(self):
        wheel = self.make()
        place = os.path.join(self.folder, "environment")
        venv.create(place, with_pip=True)
        python = os.path.join(place, "bin", "python")
        self.run_program(python, "-m", "pip", "install", "--no-index", "--quiet", wheel,
                         LD_PRELOAD="")
        where = self.run_program(python, "-c", "import vcm; print(vcm._native.lib._name)")
        self.assertTrue(where.startswith(place), where)
        found = self.run_program(
            python, "-c", "import asyncio, vcm\n"
            "async def main():\n"
            "    async with vcm.VirtualContextManager() as manager:\n"
            "        files = await manager.kb_ingest(documents={'a.pdf': b'%PDF-1.4 none'})\n"
            "        print(files[0].status, files[0].message)\n"
            "asyncio.run(main())\n")
        self.assertIn("failed", found)
        self.assertNotIn("not installed", found)  # vcm-extract is where the library looks
        said = self.run_program(python, "-c", program(), self.repo).splitlines()
        self.assertEqual([line.split()[:2] for line in said[:2]],
                         [["code", "mapped"], ["notes", "mapped"]])
        self.assertTrue(any(line.startswith("whales.md Whales") for line in said), said)
        self.assertTrue(said[-1].startswith("NOT_FOUND "), said)

    async def test_the_same_files_make_the_same_wheel(self):
        with open(self.make(), "rb") as first:
            before = first.read()
        with open(self.make(), "rb") as second:
            self.assertEqual(before, second.read())
        with zipfile.ZipFile(self.make()) as wheel:
            record = wheel.read("vcm-0.1.0.dist-info/RECORD").decode().splitlines()
            self.assertEqual([line.split(",")[0] for line in record], wheel.namelist())


if __name__ == "__main__":
    fixture.main()
