"""The program is nothing but a user of the library: beside its own code and the tools of base/ it
calls what the library exports."""

import os
import re
import subprocess
import unittest

import build


def symbols(folder, *options):
    """Names of ours that the static library of a folder defines or wants."""
    path = os.path.join(build.BUILD, folder, f"libvcm_{folder}.a")
    out = subprocess.run(["nm", *options, path], check=True, stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL, text=True).stdout
    return set(re.findall(r"\b(vcm_\w+)$", out, flags=re.MULTILINE))


def exported():
    with open(os.path.join(build.SOURCE, "api", "libvcm.map"), encoding="utf-8") as file:
        return set(re.findall(r"^        (vcm_\w+);$", file.read(), flags=re.MULTILINE))


class Users(unittest.TestCase):
    def test_operations_servers_and_command_line_call_what_is_exported(self):
        folders = ("ops", "serve", "cli")
        own = set().union(*(symbols(folder, "--defined-only") for folder in folders))
        tools = symbols("base", "--defined-only") - exported()
        for folder in folders:
            wanted = symbols(folder, "--undefined-only")
            self.assertGreater(len(wanted), 10)
            self.assertEqual(wanted - own - tools - exported() - {"vcm_version"}, set())

    def test_every_operation_of_the_library_is_called(self):
        wanted = symbols("ops", "--undefined-only") | symbols("cli", "--undefined-only")
        self.assertGreater(len(wanted & exported()), 40)


if __name__ == "__main__":
    unittest.main()
