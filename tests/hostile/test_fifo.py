"""Named pipes and devices where a file is expected: opening one waits for a writer, for ever."""

import os
import shutil
import socket
import subprocess

import harness

WATCHDOG_SECONDS = 30

# Where a repository may have one; a line each. libgit2 opens the first seven for every command, git the others.
IN_REPOSITORY = (
    ".git/config", ".git/gitdir", ".git/packed-refs", ".git/refs/heads/main",
    ".git/objects/info/alternates", ".git/objects/pack/multi-pack-index", ".git/included",
    ".git/HEAD", ".git/commondir", ".git/config.worktree", ".git/shallow", ".git/index",
    ".git/info/grafts", ".git/refs/stash", ".git/refs/heads/folder/other", ".git/logs/HEAD",
    ".git/objects/info/commit-graph", ".git/objects/info/commit-graphs/commit-graph-chain",
)
COMMANDS = (("map",), ("symbols",), ("lfs", "status"), ("check",), ("init", "--dry-run"))


class Fifo(harness.VcmTest):
    def repo(self, name="repo"):
        path = self.make_repo({"a.c": "int a(void) { return 1; }\n"}, name=name)
        self.git(path, "repack", "-adq")
        return path

    def ended(self, *args, **options):
        """The result of a vcm that may wait for ever, which is a failure told soon."""
        run = self.start(*args, **options)
        try:
            out, err = run.communicate(timeout=WATCHDOG_SECONDS)
        except subprocess.TimeoutExpired:
            self.fail(f"vcm {' '.join(args)} waits for a writer")
        return harness.Result(args, run.returncode, out, err)

    @staticmethod
    def put(path, make=os.mkfifo):
        if os.path.isdir(path):
            shutil.rmtree(path)
        if os.path.lexists(path):
            os.unlink(path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        make(path)
        return path

    def refused(self, repo, path, *command):
        result = self.ended(*command, repo)
        self.assertNotEqual(result.status, 0, path)
        return result.err

    def test_no_file_of_a_repository_makes_anybody_wait(self):
        for place in IN_REPOSITORY:
            repo = self.repo(place.replace("/", "-"))
            with open(os.path.join(repo, ".git", "config"), "a", encoding="ascii") as config:
                config.write('[include]\n  path = "incl\\\nuded"\n')
            path = self.put(os.path.join(repo, place))
            for command in COMMANDS if place == IN_REPOSITORY[0] else COMMANDS[:1]:
                message = self.refused(repo, path, *command)
            if place != ".git/HEAD":
                self.assertIn(f"'{path}' is a named pipe", message)
                self.assertIn("remove it", message)

    def test_links_to_devices_and_pipes_are_refused_too(self):
        for number, place in enumerate((".git/packed-refs", ".git/refs/heads/main", ".git/config")):
            repo = self.repo(f"pipe-{number}")
            pipe = self.put(os.path.join(self.tmp, f"pipe{number}"))
            self.put(os.path.join(repo, place), lambda path, pipe=pipe: os.symlink(pipe, path))
            self.assertIn("named pipe", self.refused(repo, place, "map"))
        repo = self.repo("device")
        self.put(os.path.join(repo, ".git/packed-refs"), lambda path: os.symlink("/dev/zero", path))
        self.assertIn("is a device", self.refused(repo, "packed-refs", "map"))

    def test_alternates_worktrees_and_folders_of_refs_that_are_links_are_looked_at(self):
        repo, other = self.repo("borrower"), self.repo("lender")
        self.write(repo, {".git/objects/info/alternates": os.path.join(other, ".git/objects") + "\n"})
        self.put(os.path.join(other, ".git/objects/pack/multi-pack-index"))
        self.assertIn("multi-pack-index' is a named pipe", self.refused(repo, "alternate", "map"))
        self.put(os.path.join(other, ".git/objects/info/alternates"))
        self.assertIn("alternates' is", self.refused(repo, "alternate", "map"))

        repo, tree = self.repo("parent"), os.path.join(self.tmp, "tree")
        self.git(repo, "worktree", "add", "--quiet", tree, "-b", "side")
        self.put(os.path.join(repo, ".git/worktrees/tree/commondir"))
        self.assertIn("named pipe", self.refused(tree, "commondir", "map"))

        repo = self.repo("linked")
        self.put(os.path.join(self.tmp, "outside", "main"))
        os.symlink(os.path.join(self.tmp, "outside"), os.path.join(repo, ".git/refs/heads/x"))
        self.write(repo, {".git/HEAD": "ref: refs/heads/x/main\n"})
        self.assertIn("named pipe", self.refused(repo, "ref", "map"))

    def test_a_folder_of_refs_that_leads_in_a_circle_ends(self):
        repo = self.repo()
        for name in "abc":
            os.symlink("..", os.path.join(repo, f".git/refs/heads/{name}"))
        self.ended("map", repo)

    def test_a_socket_of_gits_own_is_left_alone(self):
        repo = self.repo()
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(os.path.join(repo, ".git/fsmonitor--daemon.ipc"))
            self.vcm("map", repo, check=0)

    def test_files_that_vcm_reads_itself(self):
        repo = self.repo()
        for place, commands in {".colony/repo_map.yaml": (("check",), ("show",), ("preview",)),
                                ".colony/manifest.json": (("init", "--dry-run"),),
                                ".gitattributes": (("init", "--dry-run"),)}.items():
            path = self.put(os.path.join(repo, place))
            for command in commands:
                self.assertEqual(self.ended(*command, repo).status, 2, (place, command))
            os.unlink(path)

    def test_files_of_the_home(self):
        repo = self.repo()
        self.vcm("map", repo, check=0)
        self.vcm("kb", "ingest", repo)
        places = [os.path.join(folder, name) for folder, _, names in os.walk(self.home)
                  for name in names] + [os.path.join(self.home, "config.yaml")]
        shutil.copytree(self.home, self.home + ".good")
        for path in sorted(set(places)):
            self.put(path)
            for command in (("stat",), ("map", repo), ("verify",)):
                self.ended(*command)
            shutil.rmtree(self.home)
            shutil.copytree(self.home + ".good", self.home)
