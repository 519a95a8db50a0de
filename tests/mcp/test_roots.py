"""What clients may name: everything beneath a root, nothing else, whichever tool they use."""

import os
import shutil

import harness
from harness import Symlink
from mcp_client import Server

FILES = {"a.c": "int a;\n", "doc.md": "# Doc\n\nwords\n"}
# Every tool that takes a path, with the argument that names it.
REPOSITORIES = ["map", "check", "preview", "show", "repo_map", "symbols", "refs"]


class Roots(harness.VcmTest):
    def setUp(self):
        super().setUp()
        self.inside = self.make_repo(FILES, name="roots/inside")
        self.outside = self.make_repo({**FILES, "secret.md": "# Secret\n"}, name="outside")
        self.root = os.path.join(self.tmp, "roots")
        self.server = Server(self, "--root", self.root, cwd=self.inside)

    def call(self, tool, **arguments):
        if tool == "refs":
            arguments.setdefault("name", "a")
        return self.server.call(tool, **arguments)

    def refuse(self, tool, path, argument="repo_path"):
        value = [path] if argument == "files" else path
        result = self.call(tool, **{argument: value})
        self.assertTrue(result["isError"], (tool, path, result))
        error = result["structuredContent"]["error"]
        self.assertEqual(error["code"], "INVALID_ARGUMENT", (tool, path, error))
        self.assertNotIn("Secret", str(result))
        return error["message"]

    def test_a_repository_beneath_a_root_is_taken_by_every_tool(self):
        for tool in REPOSITORIES:
            for path in (self.inside, ".", os.path.join(self.root, "inside", ".")):
                result = self.call(tool, repo_path=path)
                self.assertFalse(result["isError"], (tool, path, result))

    def test_paths_out_of_the_roots_are_refused_by_every_tool(self):
        for tool in REPOSITORIES:
            for path in (self.outside, "/", "/etc", "..", "../..", "../../outside", self.root + "/../outside",
                         "/proc/self/root" + self.outside, "/proc/self/cwd/../../outside", "-x", "~"):
                if path in ("..", "~"):  # beneath the other root, without a repository; and not there at all
                    self.assertTrue(self.call(tool, repo_path=path)["isError"])
                else:
                    self.refuse(tool, path)

    def test_links_out_of_the_roots_are_refused_by_every_tool(self):
        os.symlink(self.outside, os.path.join(self.inside, "link"))
        os.symlink(self.outside, os.path.join(self.root, "link"))
        for tool in REPOSITORIES:
            self.refuse(tool, "link")
            self.refuse(tool, os.path.join(self.root, "link"))

    def test_files_out_of_the_roots_are_neither_counted_nor_ingested(self):
        secret = os.path.join(self.outside, "secret.md")
        self.write(self.inside, {"link.md": Symlink(secret)})
        for tool in ("tokens", "kb_ingest"):
            for path in (secret, "/etc/passwd", "link.md", "../../outside/secret.md"):
                self.refuse(tool, path, "files")
        self.assertEqual(self.server.document("kb_stat")["documents"], 0)
        self.assertFalse(self.call("tokens", files=["doc.md"])["isError"])

    def test_a_repository_that_is_replaced_by_a_link_between_two_calls_is_refused(self):
        self.assertFalse(self.call("map", repo_path=self.inside)["isError"])
        os.rename(self.inside, self.inside + ".old")
        os.symlink(self.outside, self.inside)
        for tool in REPOSITORIES:
            self.refuse(tool, self.inside)

    def test_a_repository_above_the_root_is_not_found(self):
        self.write(self.outside, {"sub/x.txt": "x"})
        server = Server(self, cwd=os.path.join(self.outside, "sub"))
        result = server.call("show", repo_path=".")
        self.assertTrue(result["isError"])
        self.assertIn("up to the root", str(result))

    def test_a_git_directory_out_of_the_roots_is_refused_unless_the_root_began_so(self):
        self.write(self.root, {"trap/.git": f"gitdir: {self.outside}/.git\n"})
        os.mkdir(os.path.join(self.root, "trap2"))
        os.symlink(os.path.join(self.outside, ".git"), os.path.join(self.root, "trap2", ".git"))
        for tool in REPOSITORIES:
            self.refuse(tool, os.path.join(self.root, "trap"))
            self.refuse(tool, os.path.join(self.root, "trap2"))
        tree = os.path.join(self.tmp, "tree")
        self.git(self.outside, "worktree", "add", "--quiet", tree)
        server = Server(self, cwd=tree)
        self.assertFalse(server.call("show")["isError"])

    def test_the_root_and_home_directories_are_no_roots(self):
        for root in ("/", self.env["HOME"], os.path.join(self.tmp, "missing"), os.path.join(self.inside, "a.c")):
            run = self.vcm("mcp", "--root", root, input="", check=2)
            self.assertIn("--root", run.err)
        server = Server(self, cwd=self.env["HOME"])
        self.assertIn("no root", str(server.call("show", repo_path=self.inside)))

    def test_urls_are_public_and_https_unless_a_pattern_allows_more(self):
        for tool in ("map", "repo_fetch"):
            argument = "url" if tool == "repo_fetch" else "repo_path"
            for url in ("https://127.0.0.1/x.git", "https://localhost/x.git", "https://[::1]/x", "https://10.1.2.3/x",
                        "https://192.168.0.1/x", "https://169.254.169.254/latest", "https://172.16.0.1:8443/x",
                        "https://0.0.0.0/x", "https://[::ffff:127.0.0.1]/x", "https://[fd00::1]/x",
                        "https://user:secret@127.0.0.1/x", "https://2130706433/x", "https://0x7f.1/x",
                        "http://example.org/x", "ssh://host/x", "git@host:x", "file:///etc", "https:///x",
                        f"file://{self.outside}"):
                message = self.refuse(tool, url, argument)
                self.assertNotIn("secret", message)
        server = Server(self, "--allow-url", f"file://{self.outside}*", cwd=self.inside)
        self.assertEqual(server.document("map", repo_path=f"file://{self.outside}")["status"], "mapped")
        self.assertTrue(server.call("map", repo_path=f"file://{self.inside}")["isError"])


if __name__ == "__main__":
    harness.main()
