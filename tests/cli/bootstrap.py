"""What the tests of init and of lfs share: an identity, bare remotes, and what must not change."""

import os
import shutil

import harness

MANIFEST = ".colony/manifest.json"
MAP = ".colony/repo_map.yaml"
ATTRIBUTES = ".gitattributes"
FILES = [MANIFEST, MAP, ATTRIBUTES]
KEYS = ["status", "files_created", "committed_sha", "pushed", "push_error", "lfs_enabled",
        "migrated_to_lfs", "migrate_error", "warnings", "refs", "dry_run", "migration"]


class BootstrapTest(harness.VcmTest):
    def setUp(self):
        super().setUp()
        self.write(self.env["HOME"], {
            ".gitconfig": "[user]\n\tname = U Ser\n\temail = user@example.com\n"
                          "[init]\n\tdefaultBranch = main\n"})

    def empty_repo(self, name="repo", remote=None):
        path = os.path.join(self.tmp, name)
        self.git(self.tmp, "init", "--quiet", "--initial-branch=main", path)
        if remote:
            self.git(path, "remote", "add", "origin", remote)
        return path

    def bare_remote(self, name="remote.git"):
        path = os.path.join(self.tmp, name)
        self.git(self.tmp, "init", "--quiet", "--bare", "--initial-branch=main", path)
        return path

    def tracked_repo(self, files, name="repo"):
        """A repository whose main is at origin's main; returns it and the remote."""
        remote = self.bare_remote(name + "-remote.git")
        repo = self.make_repo(files, name=name, origin=remote)
        self.git(repo, "push", "--quiet", "--set-upstream", "origin", "main")
        return repo, remote

    def init(self, repo, *args, check=0, **options):
        document = self.vcm("init", repo, "--json", *args, check=check, **options).json()
        if "error" not in document:
            self.assertEqual(list(document), KEYS)
        return document

    def refusal(self, repo, *args, check=2, **options):
        """The error of an init that must change nothing."""
        before = self.state(repo)
        document = self.init(repo, *args, check=check, **options)
        self.assertEqual(self.state(repo), before)
        return document["error"]

    def state(self, repo):
        """Everything that init may change: refs, index, and every file of the tree."""
        files = {}
        for folder, folders, names in os.walk(repo):
            if ".git" in folders:
                folders.remove(".git")
            for name in names + folders:
                path = os.path.join(folder, name)
                link = os.path.islink(path)
                data = os.readlink(path) if link else None
                if os.path.isfile(path) and not link:
                    with open(path, "rb") as file:
                        data = file.read()
                files[os.path.relpath(path, repo)] = (os.lstat(path).st_mode, data)
        return (self.git(repo, "for-each-ref"), self.git(repo, "ls-files", "--stage"),
                self.git(repo, "stash", "list"), files)

    def committed(self, repo, commit="HEAD"):
        """The paths that a commit changed."""
        return self.git(repo, "diff-tree", "--root", "--no-commit-id", "--name-only", "-r",
                        commit).splitlines()

    def read(self, repo, path):
        with open(os.path.join(repo, path), "rb") as file:
            return file.read()

    def tools(self, *names, **scripts):
        """A PATH of a folder with these programs, linked, and scripts of our own."""
        folder = os.path.join(self.tmp, "tools")
        os.makedirs(folder, exist_ok=True)
        for name in names:
            link = os.path.join(folder, name)
            if not os.path.lexists(link):
                os.symlink(shutil.which(name), link)
        for name, text in scripts.items():
            path = os.path.join(folder, name.replace("_", "-"))
            self.write(folder, {os.path.basename(path): harness.Executable(text.encode())})
        return folder
