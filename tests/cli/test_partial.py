"""`vcm repo fetch --subpath`: a part of a repository is fetched, and what is not here is said."""

import os
import shutil

from clones import CloneTest
from remotes import HttpsRemote, SshRemote

FILES = {"README.md": "top\n", "src/a.c": "int a;\n", "src/deep/b.c": "int b;\n", "src2/x.c": "int x;\n",
         ".gitattributes": "*.c text\n", "docs/guide.md": "guide\n", "copy.c": "int a;\n"}
OUTSIDE = 3  # README.md, docs/guide.md and src2/x.c; copy.c is src/a.c's twin


class PartialTest(CloneTest):
    def serve(self, files=None, allow_filter=True):
        repo, url = self.remote_repo(files or FILES)
        if allow_filter:
            self.git(repo, "config", "uploadpack.allowFilter", "true")
        return repo, url

    def fetch(self, *args, **options):
        result = self.vcm("repo", "fetch", *args, "--json", check=0, **options)
        self.assertLessEqual(len(result.out_bytes.rstrip(b"\n")), 8192)
        return result.json()

    def blobs(self, clone):
        """How many contents were transferred."""
        listing = self.git(clone, "cat-file", "--batch-all-objects", "--batch-check=%(objecttype)")
        return listing.split().count("blob")

    def assert_part(self, found):
        [clone] = self.clones()
        self.assertEqual(found["tree"], ["src/a.c", "src/deep/b.c"])
        self.assertEqual(found["files_not_fetched"], OUTSIDE)
        self.assertFalse(found["signals"]["sparse"])
        self.assertEqual(self.blobs(clone), 3)  # both files, and the rules that hold for them
        return clone


class Subpath(PartialTest):
    def test_only_the_contents_below_it_are_transferred(self):
        _, url = self.serve()
        clone = self.assert_part(self.fetch(url, "--subpath", "src"))
        # As before, without fetching anything.
        log = self.log_git()
        self.assert_part(self.fetch(url, "--subpath", "src/"))
        with open(log, encoding="utf-8") as file:
            self.assertNotIn("fetch", file.read())
        self.assertIn("3 files of the commit are not fetched",
                      self.vcm("repo", "fetch", url, "--subpath", "src", check=0).out)
        self.assertEqual(self.git(clone, "fsck", "--connectivity-only", "--no-dangling"), "")

    def test_https_and_ssh_servers_send_a_part_too(self):
        repo, _ = self.serve()
        https = HttpsRemote(self, os.path.join(self.tmp, "srv"))
        self.env["GIT_SSL_CAINFO"] = https.certificate
        self.assert_part(self.fetch(https.url("ok/tool"), "--subpath", "src"))
        ssh = SshRemote(self)
        self.use_ssh(ssh.command())
        found = self.fetch(ssh.url(repo), "--subpath", "src")
        self.assertEqual(found["files_not_fetched"], OUTSIDE)
        self.assertEqual(self.blobs(found["clone_path"]), 3)

    def test_another_subpath_brings_what_it_lacks(self):
        _, url = self.serve()
        self.fetch(url, "--subpath", "src")
        found = self.fetch(url, "--subpath", "docs")
        self.assertEqual((found["tree"], found["files_not_fetched"]), (["docs/guide.md"], 2))
        self.assertEqual(self.blobs(self.clones()[0]), 4)

    def test_a_subpath_that_is_not_there_is_not_found(self):
        _, url = self.serve()
        for subpath in ("gone", "src/a.c", "sr"):
            error = self.vcm("repo", "fetch", url, "--subpath", subpath, "--json", check=1).json()
            self.assertEqual(error["error"]["code"], "NOT_FOUND")

    def test_a_fetch_without_it_completes_the_clone(self):
        repo, url = self.serve()
        self.fetch(url, "--subpath", "src")
        found = self.fetch(url)
        self.assertEqual((found["files"], found["files_not_fetched"]), (len(FILES), 0))
        self.assertEqual(found["readme"]["content"], "top\n")
        self.assertEqual(self.blobs(self.clones()[0]), 6)
        # And so does one of a later commit, which shares what is missing with the first.
        self.fetch(self.second(url), "--subpath", "src")
        commit = self.commit(repo, {"src/c.c": "int c;\n"})
        found = self.fetch(self.second(url))
        self.assertEqual((found["commit"], found["files_not_fetched"]), (commit, 0))
        self.assertEqual(self.blobs(found["clone_path"]), 7)

    def second(self, url):
        """The same repository by another name, for another clone."""
        return url.replace("/srv/", "/srv//")

    def test_map_of_the_url_or_of_the_clone_completes_it(self):
        _, url = self.serve()
        clone = self.fetch(url, "--subpath", "src")["clone_path"]
        row = self.row(clone)
        self.assertEqual((row["coverage"]["failed"], row["coverage"]["paged"]), (0, len(FILES)))
        self.fetch(self.second(url), "--subpath", "docs")
        row = self.row(self.second(url), "--scope", "other")
        self.assertEqual((row["coverage"]["failed"], row["coverage"]["paged"]), (0, len(FILES)))

    def test_map_of_a_part_whose_rest_cannot_be_had_tells_what_is_missing(self):
        repo, url = self.serve()
        clone = self.fetch(url, "--subpath", "src")["clone_path"]
        os.rename(repo, repo + ".gone")
        result = self.vcm("map", clone, "--json", check=3)
        [row] = result.json()["sources"]
        self.assertEqual((row["coverage"]["failed"], row["coverage"]["paged"]),
                         (OUTSIDE, len(FILES) - OUTSIDE))
        self.assertIn("rest cannot be fetched", result.err)
        os.rename(repo + ".gone", repo)
        self.assertEqual(self.row(clone)["coverage"]["paged"], len(FILES))

    def test_a_whole_clone_stays_whole(self):
        repo, url = self.serve()
        self.fetch(url)
        found = self.fetch(url, "--subpath", "src")
        self.assertEqual(found["files_not_fetched"], 0)
        self.commit(repo, {"docs/new.md": "new\n"})
        found = self.fetch(url, "--subpath", "src")
        self.assertEqual((found["files_not_fetched"], found["files"]), (1, 2))
        self.assertEqual(self.fetch(url)["files_not_fetched"], 0)

    def test_a_reused_part_moves_with_the_upstream(self):
        repo, url = self.serve()
        self.fetch(url, "--subpath", "src")
        commit = self.commit(repo, {"src/a.c": "int z;\n", "docs/guide.md": "other\n"})
        found = self.fetch(url, "--subpath", "src")
        self.assertEqual((found["commit"], found["files_not_fetched"]), (commit, OUTSIDE))
        self.assertEqual(self.git(found["clone_path"], "show", "HEAD:src/a.c"), "int z;")
        self.assertEqual(self.blobs(found["clone_path"]), 4)

    def test_what_was_broken_off_or_damaged_is_fetched_again(self):
        _, url = self.serve()
        clone = self.fetch(url, "--subpath", "src")["clone_path"]
        # As if it had been killed before the contents came, and before it was noted what came.
        packs = os.path.join(clone, "objects", "pack")
        for index in sorted(os.listdir(packs)):
            if index.endswith(".idx"):
                kinds = self.git(clone, "verify-pack", "-v", os.path.join(packs, index))
                if " blob " in kinds:
                    for ending in (".idx", ".pack", ".promisor", ".rev"):
                        path = os.path.join(packs, index[:-4] + ending)
                        if os.path.exists(path):
                            os.unlink(path)
        self.assertEqual(self.blobs(clone), 0)
        self.assert_part(self.fetch(url, "--subpath", "src"))
        commit = self.git(clone, "rev-parse", "HEAD")
        self.git(clone, "update-ref", "-d", f"refs/vcm/parts/{commit}")
        self.assert_part(self.fetch(url, "--subpath", "src"))
        shutil.rmtree(os.path.join(clone, "objects"))
        os.makedirs(os.path.join(clone, "objects"))
        self.assert_part(self.fetch(url, "--subpath", "src"))
        self.assertEqual(self.fetch(url)["files_not_fetched"], 0)

    def test_a_server_that_cannot_send_a_part_sends_all(self):
        _, url = self.serve(allow_filter=False)
        found = self.fetch(url, "--subpath", "src")
        self.assertEqual((found["files"], found["files_not_fetched"]), (2, 0))
        self.assertEqual(self.blobs(found["clone_path"]), 6)

    def test_a_server_that_gives_out_refs_only_sends_all_in_the_end(self):
        repo, _ = self.serve()
        https = HttpsRemote(self, os.path.join(self.tmp, "srv"))
        self.env["GIT_SSL_CAINFO"] = https.certificate
        found = self.fetch(https.url("v0/tool"), "--subpath", "src")
        self.assertEqual((found["files"], found["files_not_fetched"]), (2, 0))
        old = self.git(repo, "rev-parse", "HEAD")
        self.commit(repo, {"src/c.c": "int c;\n"})
        found = self.fetch(https.url("v0/tool"), "--subpath", "src", "--ref", old[:9])
        self.assertEqual((found["commit"], found["files_not_fetched"]), (old, 0))

    def test_history_is_fetched_as_deep_as_asked_and_no_contents_of_it(self):
        repo, url = self.serve()
        for i in range(3):
            self.commit(repo, {"docs/guide.md": f"{i}\n", "src/a.c": f"int a{i};\n"})
        found = self.fetch(url, "--subpath", "src", "--depth", "3")
        self.assertEqual(self.git(found["clone_path"], "rev-list", "--count", "HEAD"), "3")
        self.assertEqual(self.blobs(found["clone_path"]), 3)

    def test_symbols_of_a_part_say_what_they_lack(self):
        _, url = self.serve()
        clone = self.fetch(url, "--subpath", "src")["clone_path"]
        names = {symbol["name"] for symbol in
                 self.vcm("symbols", clone, "--json", check=0).json()["symbols"]}
        self.assertEqual(names, {"a", "b"})
        document = self.vcm("repo", "map", clone, "--json", check=0).json()
        self.assertEqual((document["files_not_fetched"], document["reason"]), (1, None))
        document = self.vcm("repo", "map", clone, "--include", "src2/**", "--json", check=0).json()
        self.assertEqual((document["map"], document["reason"]), ("", "not_fetched"))
        self.assertIn("1 files are not fetched", self.vcm("repo", "map", clone, check=0).out)
        self.fetch(url)
        document = self.vcm("repo", "map", clone, "--json", check=0).json()
        self.assertEqual(document["files_not_fetched"], 0)
        names = {symbol["name"] for symbol in
                 self.vcm("symbols", clone, "--json", check=0).json()["symbols"]}
        self.assertEqual(names, {"a", "b", "x"})


class Dest(PartialTest):
    def files_in(self, folder):
        return sorted(os.path.relpath(os.path.join(place, name), folder)
                      for place, _, names in os.walk(folder) for name in names
                      if "/.git" not in place + "/")

    def test_a_working_copy_of_a_part_has_that_part(self):
        repo, url = self.serve()
        dest = os.path.join(self.tmp, "copy")
        found = self.fetch(url, "--subpath", "src", "--dest", dest)
        self.assertEqual((found["clone_path"], found["files_not_fetched"]), (dest, OUTSIDE))
        self.assertEqual(self.files_in(dest), ["src/a.c", "src/deep/b.c"])
        self.assertEqual(self.blobs(dest), 3)
        self.assertEqual(self.git(dest, "status", "--porcelain"), "")
        commit = self.commit(repo, {"src/a.c": "int z;\n"})
        self.fetch(url, "--subpath", "src", "--dest", dest)
        self.assertEqual(self.git(dest, "rev-parse", "HEAD"), commit)
        # The rest can be had there by git itself, or by us.
        self.assertEqual(self.git(dest, "show", "HEAD:docs/guide.md"), "guide")
        self.fetch(url, "--dest", dest)
        self.assertEqual(self.files_in(dest), sorted(FILES))
        self.assertEqual(self.git(dest, "status", "--porcelain"), "")
        self.assertEqual(self.git(dest, "fsck", "--connectivity-only", "--no-dangling"), "")

    def test_a_server_that_sends_all_gives_the_same_working_copy(self):
        _, url = self.serve(allow_filter=False)
        dest = os.path.join(self.tmp, "copy")
        self.fetch(url, "--subpath", "src", "--dest", dest)
        self.assertEqual(self.files_in(dest), ["src/a.c", "src/deep/b.c"])
        self.fetch(url, "--subpath", "docs", "--dest", dest)
        self.assertEqual(self.files_in(dest), ["docs/guide.md"])
        self.fetch(url, "--dest", dest)
        self.assertEqual(self.files_in(dest), sorted(FILES))

    def test_names_that_are_patterns_are_names(self):
        name = "a[b] *c\\d"
        _, url = self.serve({f"{name}/x": "1\n", "ab c/x": "2\n", "y": "3\n"})
        dest = os.path.join(self.tmp, "copy")
        self.fetch(url, "--subpath", name, "--dest", dest)
        self.assertEqual(self.files_in(dest), [f"{name}/x"])
