"""scripts/lib.sh tells which packages of scripts/dependencies.txt are missing."""

import os
import subprocess
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class OnlyMissing(unittest.TestCase):
    """A package database of its own, in which groff-base and gcc are installed, and commands that
    are on the PATH."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.database, self.commands = (os.path.join(folder.name, name) for name in ("db", "bin"))
        os.makedirs(os.path.join(self.database, "info"))
        os.mkdir(self.commands)
        with open(os.path.join(self.database, "status"), "w", encoding="ascii") as file:
            for package, state in [("groff-base", "installed"), ("gcc", "installed"),
                                   ("cmake", "config-files")]:
                file.write(f"Package: {package}\nStatus: install ok {state}\nVersion: 1\n"
                           "Architecture: all\nMaintainer: nobody\nDescription: none\n\n")
        for command in ("groff", "npm"):
            path = os.path.join(self.commands, command)
            with open(path, "w", encoding="ascii") as file:
                file.write("#!/bin/sh\n")
            os.chmod(path, 0o755)

    def missing(self, *lines):
        script = f'root={ROOT}; . "{ROOT}/scripts/lib.sh"; only_missing'
        run = subprocess.run(
            ["bash", "-c", script], input="".join(line + "\n" for line in lines), text=True,
            capture_output=True, check=True,
            env={"PATH": f"{self.commands}:/usr/bin:/bin", "DPKG_ADMINDIR": self.database})
        return run.stdout.splitlines()

    def test_an_installed_package_is_not_missing(self):
        self.assertEqual(self.missing("gcc the compiler"), [])

    def test_a_command_of_its_name_does_not_stand_for_a_package(self):
        self.assertEqual(self.missing("groff typesets"), ["groff typesets"])

    def test_a_package_that_was_removed_is_missing(self):
        self.assertEqual(self.missing("cmake generates"), ["cmake generates"])

    def test_a_command_stands_for_its_package_where_the_list_says_so(self):
        self.assertEqual(self.missing("npm=npm fetches", "no-such=no-such-command does nothing"),
                         ["no-such does nothing"])


if __name__ == "__main__":
    unittest.main()
