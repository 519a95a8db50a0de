"""Where the package finds the shared library: by VCM_LIBRARY, next to itself, or installed."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PACKAGE = os.path.join(ROOT, "bindings", "python", "vcm")
LIBRARY = os.environ["VCM_LIBRARY"]
SCRIPT = "import vcm; print(vcm._native.lib._name, vcm.library_version())"


class Loading(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        self.package = shutil.copytree(PACKAGE, os.path.join(self.folder, "packages", "vcm"),
                                       ignore=shutil.ignore_patterns("__pycache__"))

    def load(self, **environment):
        """What a new interpreter says, and its errors."""
        own = {name: value for name, value in os.environ.items()
               if name not in ("VCM_LIBRARY", "LD_LIBRARY_PATH")}
        own.update(PYTHONPATH=os.path.dirname(self.package), **environment)
        done = subprocess.run([sys.executable, "-B", "-c", SCRIPT], env=own, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        return done.stdout.split(), done.stderr

    def test_by_its_name(self):
        self.assertEqual(self.load(VCM_LIBRARY=LIBRARY)[0], [LIBRARY, "0.1.0"])

    def test_next_to_the_package(self):
        own = os.path.join(self.package, "libvcm.so.0")
        os.symlink(LIBRARY, own)
        self.assertEqual(self.load()[0], [own, "0.1.0"])

    def test_installed(self):
        libraries = os.path.join(self.folder, "lib")
        os.mkdir(libraries)
        os.symlink(LIBRARY, os.path.join(libraries, "libvcm.so.0"))
        self.assertEqual(self.load(LD_LIBRARY_PATH=libraries)[0], ["libvcm.so.0", "0.1.0"])

    def test_a_name_that_leads_nowhere_is_told_and_nothing_else_is_tried(self):
        os.symlink(LIBRARY, os.path.join(self.package, "libvcm.so.0"))
        out, said = self.load(VCM_LIBRARY="/nowhere/libvcm.so")
        self.assertEqual(out, [])
        self.assertIn("ImportError", said)
        self.assertIn("/nowhere/libvcm.so", said)
        self.assertIn("VCM_LIBRARY", said)


if __name__ == "__main__":
    unittest.main()
