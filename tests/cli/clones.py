"""What the tests of fetching share: repositories that are named by URL, and what became of them."""

import glob
import os
import shutil

from harness import Executable
from repo_map import RepoMapTest

FILES = {"a.txt": "alpha\n", "src/b.c": "int b;\n"}
NOBODY = "1234567890123456789012345678901234567890"


class CloneTest(RepoMapTest):
    def remote_repo(self, files=None, name="tool", **options):
        path = self.make_repo(files or FILES, name=os.path.join("srv", name), **options)
        return path, "file://" + path

    def clones(self):
        return sorted(glob.glob(os.path.join(self.home, "clones", "*.git")))

    def failure(self, *args, code, check=1, **options):
        error = self.error_of("map", *args, check=check, **options)
        self.assertEqual(error["code"], code, error)
        return error["message"]

    def row(self, *args, check=0, **options):
        [row] = self.report("map", *args, check=check, **options)["sources"]
        return row

    def texts(self, scope):
        """path: text of everything that is mapped in the scope."""
        pages = self.vcm("pages", "--scope", scope, "--json", check=0).json()["pages"]
        records = [record for page in pages for record in self.vcm(
            "page", page["page_id"], "--scope", scope, "--json", check=0).json()["records"]]
        return {record["path"]: record["text"] for record in records}

    def everything_under(self, folder):
        data = b""
        for place, _, names in os.walk(folder):
            for name in names:
                with open(os.path.join(place, name), "rb") as file:
                    data += name.encode() + file.read()
        return data

    def use_ssh(self, command):
        """The user's own configuration names this ssh."""
        self.env.pop("GIT_SSH_COMMAND", None)
        self.git(self.tmp, "config", "--global", "core.sshCommand", command)

    def log_git(self):
        """Puts a git before the real one that notes its arguments; returns the log's path."""
        folder, log = os.path.join(self.tmp, "bin"), os.path.join(self.tmp, "git.log")
        self.write(folder, {"git": Executable(
            f'#!/bin/sh\nprintf "%s\\n" "$*" >>{log}\nexec {shutil.which("git")} "$@"\n'.encode())})
        self.env["PATH"] = f"{folder}:{self.env['PATH']}"
        return log
