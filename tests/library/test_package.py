"""The Debian package. Slow, so only in a long run (VCM_TEST_LONG)."""

import glob
import os
import sys
import tempfile
import unittest

import build


class Package(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory()
        build.run(["cpack", "-G", "DEB", "-B", cls.place.name], cwd=build.BUILD)
        cls.package, = glob.glob(os.path.join(cls.place.name, "*.deb"))

    @classmethod
    def tearDownClass(cls):
        cls.place.cleanup()

    def test_lintian_finds_nothing(self):
        build.run(["lintian", "--fail-on", "error,warning", "--allow-root", self.package])

    def test_it_depends_on_the_libraries_that_it_uses(self):
        depends = build.run(["dpkg-deb", "-f", self.package, "Depends"])
        for name in ("git", "libgit2-", "liblmdb0", "libpoppler-glib8", "libzstd1"):
            self.assertIn(name, depends)

    def test_what_it_installs_runs(self):
        root = os.path.join(self.place.name, "root")
        build.run(["dpkg-deb", "-x", self.package, root])
        self.assertEqual(build.run([os.path.join(root, "usr/bin/vcm"), "--version"]),
                         "vcm 0.1.0\n")
        self.assertTrue(os.path.exists(os.path.join(root, "usr/libexec/vcm/vcm-extract")))


if __name__ == "__main__":
    if not os.environ.get("VCM_TEST_LONG"):
        sys.exit(77)
    unittest.main()
