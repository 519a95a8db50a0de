"""The types of the package, and of the program in docs/python.md, as mypy sees them."""

import os
import re
import shutil
import subprocess
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PACKAGE = os.path.join(ROOT, "bindings", "python")


class Types(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def check(self, *files):
        environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
        return subprocess.run(
            ["mypy", "--strict", "--cache-dir", os.path.join(self.folder, "cache"), *files],
            env={**environment, "MYPYPATH": PACKAGE}, cwd=self.folder, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)

    def write(self, text):
        path = os.path.join(self.folder, "program.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def test_the_package_and_the_program_of_the_document_are_typed(self):
        with open(os.path.join(ROOT, "docs", "python.md"), encoding="utf-8") as file:
            program = re.search(r"```python\n(.*?)```", file.read(), re.S).group(1)
        done = self.check(os.path.join(PACKAGE, "vcm"), self.write(program))
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_a_wrong_call_is_found(self):
        done = self.check(self.write(
            "import vcm\n"
            "async def main(manager: vcm.VirtualContextManager) -> int:\n"
            "    return (await manager.grep('a', limit='b')).matches[0].path\n"))
        self.assertEqual(done.returncode, 1)
        self.assertIn('Argument "limit"', done.stdout)
        self.assertIn('expected "int"', done.stdout)


if __name__ == "__main__":
    unittest.main()
