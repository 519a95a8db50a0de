"""Repositories elsewhere: URLs on the command line and in maps, fetched into clones of the home."""

import glob
import os
import re
import shutil
import stat

from clones import FILES, NOBODY, CloneTest
from harness import Executable
from repo_map import MAP, map_of


class Names(CloneTest):
    def test_what_is_no_allowed_url_is_refused_before_anything_runs(self):
        log = self.log_git()
        for url in ("ext::sh -c true", "fd::17", "http://127.0.0.1/x", "git://127.0.0.1/x",
                    "ftp://127.0.0.1/x", "HTTP://127.0.0.1/x", "ssh://-oProxyCommand=true/x",
                    "ssh://u@-oProxyCommand=true/x", "-oProxyCommand=true:x",
                    "ssh://-u@host/x", "host:-x", "https://", "https://127.0.0.1",
                    "https://ho st/x", "https://127.0.0.1/a%0ab", "https://127.0.0.1/a\nb",
                    "https://127.0.0.1/\x1b[31m", "https://127.0.0.1:99999999/x",
                    "https://127.0.0.1/x?token=1", "file://host/x", "file:///", "file://relative",
                    "file:///srv/../etc", "file:///srv/%2e%2e/etc", "u:secret@host:x"):
            result = self.vcm("map", "--json", "--", url, check=2)
            self.assertEqual(result.json()["error"]["code"], "INVALID_ARGUMENT", result)
            self.assertNotIn("\x1b", result.err)
            self.assertNotIn("secret", result.out)
        self.assertFalse(os.path.exists(log))
        self.assertEqual(self.clones(), [])

    def test_branches_and_commits_that_look_like_options_are_refused(self):
        _, url = self.remote_repo()
        log = self.log_git()
        for name in ("-x", "--upload-pack=touch x", "a..b", "a b", "a:b", "@{1}", "a\nb", "*",
                     "a.lock"):
            for option in ("branch", "commit"):
                self.failure(url, f"--{option}={name}", code="INVALID_ARGUMENT", check=2)
        self.assertFalse(os.path.exists(log))

    def test_a_path_that_looks_like_an_address_is_a_path(self):
        repo = self.make_repo(FILES, name="host:tool")
        self.assertEqual(self.report("map", "host:tool", cwd=self.tmp)["repo_root"], repo)


class File(CloneTest):
    def test_a_url_is_mapped_like_a_clone_of_it(self):
        repo, url = self.remote_repo()
        document = self.report("map", url)
        [clone] = self.clones()
        self.assertEqual(document["repo_root"], clone)
        self.assertEqual((document["origin_url"], document["branch"], document["status"]),
                         (url, "main", "mapped"))
        self.assertEqual(document["commit"], self.git(repo, "rev-parse", "HEAD"))
        self.assertEqual(self.texts(document["base_scope_id"]), FILES)
        local = os.path.join(self.tmp, "local")
        self.git(self.tmp, "clone", "--quiet", url, local)
        again = self.report("map", local)
        self.assertEqual((again["base_scope_id"], again["status"]),
                         (document["base_scope_id"], "already_mapped"))
        self.assertEqual(stat.S_IMODE(os.stat(os.path.dirname(clone)).st_mode), 0o700)

    def test_the_clone_moves_with_the_remote_and_keeps_what_was_mapped(self):
        repo, url = self.remote_repo()
        first = self.report("map", url)["commit"]
        self.assertEqual(self.report("map", url)["status"], "already_mapped")
        second = self.commit(repo, {"c.txt": "new\n"})
        row = self.row(url)
        self.assertEqual((row["status"], row["commit"]), ("remapped", second))
        # The remote forgets the first commit; the clone does not, and needs nobody to map it.
        self.git(repo, "checkout", "--quiet", "--orphan", "other")
        self.commit(repo, {}, "alone")
        self.git(repo, "branch", "--quiet", "-D", "main")
        self.git(repo, "reflog", "expire", "--expire=now", "--all")
        self.git(repo, "gc", "--quiet", "--prune=now")
        self.assertEqual(self.report("map", url)["branch"], "other")
        os.rename(repo, repo + ".gone")
        self.assertEqual(self.report("map", url, "--commit", first)["commit"], first)
        self.failure(url, code="NOT_FOUND")

    def test_branches_tags_ids_and_steps_back(self):
        repo, url = self.remote_repo()
        one = self.git(repo, "rev-parse", "HEAD")
        self.git(repo, "tag", "-a", "-m", "x", "v1")
        two = self.commit(repo, {"c": "2\n"})
        three = self.commit(repo, {"c": "3\n"})
        self.git(repo, "branch", "topic/a", one)
        for words, commit in ((["--branch", "topic/a"], one), (["--commit", "v1"], one),
                              (["--commit", "main~2"], one), (["--commit", "main^"], two),
                              (["--commit", "HEAD~1"], two), (["--commit", two], two),
                              (["--commit", two.upper()], two), (["--commit", two[:9]], two),
                              (["--commit", "refs/heads/main"], three), ([], three),
                              (["--commit", "topic/a"], one), (["--branch", "main"], three)):
            document = self.report("map", url, *words)
            self.assertEqual(document["commit"], commit, words)
            self.assertIn(document["sources"][0]["coverage"]["paged"], (2, 3))
        message = self.failure(url, "--branch", "nope", code="NOT_FOUND")
        self.assertIn("nope", message)
        for name in (NOBODY, "abcdef12", "v9", "main~9"):
            self.assertIn(name, self.failure(url, "--commit", name, code="NOT_FOUND"))

    def test_what_is_no_commit_is_told(self):
        repo, url = self.remote_repo()
        tree = self.git(repo, "rev-parse", "HEAD^{tree}")
        blob = self.git(repo, "rev-parse", "HEAD:a.txt")
        self.git(repo, "tag", "a-tree", tree)
        self.git(repo, "config", "uploadpack.allowAnySHA1InWant", "true")
        for name in (tree, blob, blob[:8], "a-tree"):
            self.failure(url, "--commit", name, code="NOT_FOUND")
            self.failure(repo, "--commit", name, code="NOT_FOUND")

    def test_empty_unborn_detached_and_bare_remotes(self):
        empty = os.path.join(self.tmp, "srv", "empty")
        os.makedirs(empty)
        self.git(empty, "init", "--quiet", "--initial-branch=main")
        self.assertIn("no commit", self.failure("file://" + empty, code="NOT_FOUND"))
        self.assertEqual(self.clones(), [])
        repo, url = self.remote_repo()
        head = self.git(repo, "rev-parse", "HEAD")
        self.git(repo, "checkout", "--quiet", "--detach")
        document = self.report("map", url)
        self.assertEqual((document["commit"], document["status"]), (head, "mapped"))
        self.git(repo, "checkout", "--quiet", "--orphan", "unborn")
        self.failure(url, code="NOT_FOUND")
        self.assertEqual(self.report("map", url, "--branch", "main")["commit"], head)
        bare = self.make_repo(FILES, name="srv/b", bare=True, branch="trunk")
        self.assertEqual(self.report("map", "file://" + bare)["branch"], "trunk")
        self.failure("file://" + os.path.join(self.tmp, "srv"), code="NOT_FOUND")

    def test_a_branch_may_take_the_place_of_a_folder_of_branches(self):
        repo, url = self.remote_repo()
        self.git(repo, "branch", "a")
        self.report("map", url, "--branch", "a")
        self.git(repo, "branch", "-m", "a", "a/b")
        self.assertEqual(self.report("map", url, "--branch", "a/b")["branch"], "a/b")
        self.failure(url, "--branch", "a", code="NOT_FOUND")

    def test_a_worktree_a_shallow_clone_and_packs_can_be_fetched_from(self):
        repo, url = self.remote_repo()
        self.commit(repo, {"c": "2\n"})
        self.git(repo, "gc", "--quiet")
        tree = os.path.join(self.tmp, "worktree")
        self.git(repo, "worktree", "add", "--quiet", "-b", "side", tree)
        self.assertEqual(self.report("map", "file://" + tree)["branch"], "side")
        shallow = os.path.join(self.tmp, "shallow")
        self.git(self.tmp, "clone", "--quiet", "--depth=1", url, shallow)
        self.assertEqual(self.row("file://" + shallow)["coverage"]["paged"], 3)

    def test_sha256_is_not_supported(self):
        repo = os.path.join(self.tmp, "sha256")
        os.mkdir(repo)
        self.git(repo, "init", "--quiet", "--object-format=sha256")
        self.commit(repo, {"a": "1\n"})
        self.failure("file://" + repo, code="UNSUPPORTED")
        self.failure(repo, code="UNSUPPORTED")

    def test_a_damaged_clone_is_made_anew(self):
        repo, url = self.remote_repo()
        self.report("map", url)
        [clone] = self.clones()

        def cut_objects():
            shutil.rmtree(os.path.join(clone, "objects"))
            os.makedirs(os.path.join(clone, "objects"))

        def cut_head():
            os.unlink(os.path.join(clone, "HEAD"))

        def spoil_pack():
            self.write(clone, {"objects/pack/pack-x.idx": "damaged", "objects/pack/pack-x.pack":
                               "PACK" + 60 * "x"})

        # Were the home inside a repository, nothing would be written there.
        self.git(self.home, "init", "--quiet")
        before = self.everything_under(os.path.join(self.home, ".git"))
        for damage in (cut_objects, cut_head, spoil_pack):
            damage()
            self.commit(repo, {"c": damage.__name__})
            row = self.row(url)
            self.assertEqual((row["status"], row["coverage"]["paged"]), ("remapped", 3), damage)
        self.assertEqual(self.everything_under(os.path.join(self.home, ".git")), before)

    def test_preview_uses_what_is_here_and_no_network(self):
        repo, url = self.remote_repo()
        self.assertEqual(self.error_of("preview", url, check=1)["code"], "NOT_FOUND")
        self.assertEqual(self.clones(), [])
        first = self.report("map", url)["commit"]
        self.commit(repo, {"c": "2\n"})
        log = self.log_git()
        document = self.report("preview", url)
        self.assertEqual((document["commit"], document["origin_url"]), (first, url))
        self.assertFalse(os.path.exists(log))
        dry = self.report("map", url, "--dry-run")
        self.assertEqual(dry["sources"][0]["matched_files"], 3)

    def test_check_and_show_read_the_map_of_a_url(self):
        _, url = self.remote_repo({MAP: map_of("name: code, type: git_repo, start_dir: src"),
                                   **FILES})
        self.assertEqual(self.report("check", url)["sources"],
                         [{"name": "code", "type": "git_repo", "matched_files": 1}])
        self.assertIn("start_dir", self.vcm("show", url, check=0).out)

    def test_the_remote_and_the_users_settings_run_nothing(self):
        witness = os.path.join(self.tmp, "witness")
        hook = Executable(f"#!/bin/sh\ntouch {witness}\n".encode())
        template, hooks = os.path.join(self.tmp, "template"), os.path.join(self.tmp, "hooks")
        names = ("post-checkout", "reference-transaction", "fsmonitor", "pre-auto-gc", "post-merge")
        self.write(template, {f"hooks/{name}": hook for name in names})
        self.write(hooks, {name: hook for name in names})
        repo, url = self.remote_repo()
        for key, value in (("init.templateDir", template), ("core.hooksPath", hooks),
                           ("core.fsmonitor", os.path.join(hooks, "fsmonitor"))):
            self.git(repo, "config", "--global", key, value)
        self.git(repo, "config", "core.sshCommand", os.path.join(hooks, "fsmonitor"))
        if os.path.exists(witness):
            os.unlink(witness)
        self.report("map", url)
        [clone] = self.clones()
        self.assertFalse(os.path.exists(witness))
        self.assertFalse(os.path.exists(os.path.join(clone, "hooks")))

    def test_git_variables_of_the_caller_do_not_lead_astray(self):
        _, url = self.remote_repo()
        other = self.make_repo({"x": "x\n"}, name="other")
        before = self.everything_under(other)
        self.report("map", url, env={
            "GIT_DIR": os.path.join(other, ".git"), "GIT_WORK_TREE": other,
            "GIT_OBJECT_DIRECTORY": os.path.join(other, ".git/objects"), "GIT_NAMESPACE": "x",
            "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "protocol.allow",
            "GIT_CONFIG_VALUE_0": "never", "LANG": "de_DE.UTF-8", "GIT_TRACE": "1"})
        self.assertEqual(self.everything_under(other), before)

    def test_without_git_the_message_says_so(self):
        _, url = self.remote_repo()
        folder = os.path.join(self.tmp, "empty-path")
        os.mkdir(folder)
        self.assertIn("git", self.failure(url, code="NOT_FOUND", env={"PATH": folder}))

    def test_a_relative_home_works(self):
        _, url = self.remote_repo()
        self.vcm("map", url, check=0, cwd=self.tmp, env={"VCM_HOME": "rel/home"})
        self.assertTrue(glob.glob(os.path.join(self.tmp, "rel/home/clones/*.git/vcm-clone")))


class Rows(CloneTest):
    def mapped(self, repo, *args, check=0):
        return {row["name"]: row for row in self.report("map", repo, *args, check=check)["sources"]}

    def test_rows_are_fetched_and_fail_alone(self):
        other, url = self.remote_repo(branch="trunk")
        trunk = self.git(other, "rev-parse", "HEAD")
        dev = self.commit(other, {"src/c.c": "int c;\n"})
        self.git(other, "branch", "dev", dev)
        self.git(other, "reset", "--quiet", "--hard", trunk)
        self.git(other, "tag", "v1", trunk)
        repo = self.repo_with(map_of(
            "name: own, type: git_repo", f"name: head, type: git_repo, origin_url: '{url}'",
            f"name: dev, type: git_repo, origin_url: '{url}', branch: dev, start_dir: src",
            f"name: tag, type: git_repo, origin_url: '{url}', commit: v1",
            f"name: id, type: git_repo, origin_url: '{url}', commit: {dev}",
            f"name: main, type: git_repo, origin_url: '{url}', branch: main",
            f"name: lost, type: git_repo, origin_url: '{url}', commit: '{NOBODY}'",
            "name: far, type: git_repo, origin_url: 'https://127.0.0.1:1/x'",
            f"name: dir, type: git_repo, origin_url: '{url}', start_dir: nowhere",
            "name: http, type: git_repo, origin_url: 'http://127.0.0.1/x'",
            f"name: path, type: git_repo, origin_url: '{other}'",
            "name: relative, type: git_repo, origin_url: ../srv/tool, branch: dev",
            "name: nothing, type: git_repo, origin_url: ../srv"), ["a"])
        before = self.everything_under(other)
        rows = self.mapped(repo, check=3)
        self.assertEqual({name: row["code"] for name, row in rows.items()}, {
            "own": None, "head": None, "dev": None, "tag": None, "id": None, "path": None,
            "relative": None, "main": "NOT_FOUND", "lost": "NOT_FOUND", "far": "NETWORK_ERROR",
            "dir": "NOT_FOUND", "http": "INVALID_ARGUMENT", "nothing": "NOT_FOUND"})
        self.assertEqual({name: rows[name]["commit"] for name in
                          ("head", "dev", "tag", "id", "path", "relative")},
                         {"head": trunk, "dev": dev, "tag": trunk, "id": dev, "path": trunk,
                          "relative": dev})
        self.assertEqual(rows["dev"]["coverage"]["paged"], 2)
        self.assertEqual(self.everything_under(other), before)
        self.assertEqual(len(self.clones()), 1)
        scopes = {scope["scope_id"].split(":")[1]: scope for scope in
                  self.vcm("scopes", "--json", check=0).json()["scopes"]}
        self.assertEqual(scopes["head"]["origin_url"], url)
        self.assertEqual(scopes["head"]["branch"], "trunk")
        # A second run moves what moved.
        self.commit(other, {"d": "4\n"})
        rows = self.mapped(repo, check=3)
        self.assertEqual((rows["head"]["status"], rows["tag"]["status"], rows["path"]["status"]),
                         ("remapped", "already_mapped", "remapped"))

    def test_rows_of_one_url_see_one_state_of_it_and_ask_once(self):
        _, url = self.remote_repo()
        dead = "https://127.0.0.1:1/x"
        repo = self.repo_with(map_of(
            f"name: one, type: git_repo, origin_url: '{url}', start_dir: src",
            f"name: two, type: git_repo, origin_url: '{url}', exclude_globs: ['src/']",
            f"name: no, type: git_repo, origin_url: '{url}', start_dir: nowhere",
            f"name: dead, type: git_repo, origin_url: '{dead}'",
            f"name: late, type: git_repo, origin_url: '{dead}', branch: dev"), ["a"])
        log = self.log_git()
        rows = self.mapped(repo, check=3)
        self.assertEqual({name: (row["code"], row["coverage"]["paged"])
                          for name, row in rows.items()},
                         {"one": (None, 1), "two": (None, 1), "no": ("NOT_FOUND", 0),
                          "dead": ("NETWORK_ERROR", 0), "late": ("NETWORK_ERROR", 0)})
        with open(log, encoding="utf-8") as file:
            self.assertEqual(file.read().count("ls-remote"), 2)

    def test_preview_of_rows_needs_no_network_and_shows_no_clone(self):
        _, url = self.remote_repo()
        repo = self.repo_with(map_of(f"name: far, type: git_repo, origin_url: '{url}'"), ["a"])
        log = self.log_git()
        [row] = self.report("preview", repo)["sources"]
        self.assertEqual((row["mmap_kwargs"]["branch"], row["mmap_kwargs"]["commit"]),
                         ("main", "HEAD"))
        self.assertFalse(os.path.exists(log))
        self.assertEqual(self.clones(), [])

    def test_a_submodule_that_is_not_checked_out_is_fetched_at_its_gitlink(self):
        other, url = self.remote_repo(name="lib")
        repo = self.make_repo({"a": "1\n"}, name="srv/parent")
        commit = self.add_submodule(repo, url, "vendor/lib")
        self.commit(repo, {MAP: map_of("name: lib, type: git_repo, submodule: vendor/lib")})
        self.commit(other, {"newer": "1\n"})
        clone = os.path.join(self.tmp, "clone")
        self.git(self.tmp, "clone", "--quiet", repo, clone)
        [row] = self.report("map", clone)["sources"]
        self.assertEqual((row["code"], row["commit"], row["coverage"]["paged"]), (None, commit, 2))
        self.assertEqual(len(self.clones()), 1)

    def test_a_map_from_a_url_may_not_name_this_machine(self):
        secret = self.make_repo({"secret": "1\n"}, name="private")
        parent, url = self.remote_repo(name="parent")
        self.add_submodule(parent, secret, "sub")
        self.git(parent, "config", "-f", ".gitmodules", "submodule.rel.path", "sub")
        self.commit(parent, {MAP: map_of(
            "name: own, type: git_repo", f"name: path, type: git_repo, origin_url: '{secret}'",
            f"name: file, type: git_repo, origin_url: 'file://{secret}'",
            "name: relative, type: git_repo, origin_url: ../../private")})
        for words, check in ((["map"], 3), (["preview"], 3)):
            rows = {row["name"]: row for row in self.report(*words, url, check=check)["sources"]}
            for name in ("path", "file", "relative"):
                error = rows[name].get("error", rows[name])
                self.assertEqual(error["code"], "INVALID_ARGUMENT", rows[name])
        self.git(parent, "config", "-f", ".gitmodules", "--remove-section", "submodule.rel")
        for submodule in (secret, f"file://{secret}", "../../private"):
            self.git(parent, "config", "-f", ".gitmodules", "submodule.sub.url", submodule)
            self.commit(parent, {MAP: map_of("name: sub, type: git_repo, submodule: sub")})
            row = self.row(url, check=1)
            self.assertEqual(row["code"], "INVALID_ARGUMENT", row)

    def test_rows_of_a_url_may_name_branches_of_their_own(self):
        repo, url = self.remote_repo({MAP: map_of(
            "name: now, type: git_repo", "name: dev, type: git_repo, branch: dev",
            "name: tag, type: git_repo, commit: v1", "name: none, type: git_repo, branch: none"),
            **FILES})
        first = self.git(repo, "rev-parse", "HEAD")
        self.git(repo, "tag", "v1")
        self.git(repo, "checkout", "--quiet", "-b", "dev")
        dev = self.commit(repo, {"d": "1\n"})
        self.git(repo, "checkout", "--quiet", "main")
        main = self.commit(repo, {"e": "1\n"})
        rows = self.mapped(url, check=3)
        self.assertEqual({name: (row["code"], row["commit"]) for name, row in rows.items()
                          if name != "none"},
                         {"now": (None, main), "dev": (None, dev), "tag": (None, first)})
        self.assertEqual(rows["none"]["code"], "NOT_FOUND")


class Partial(CloneTest):
    def test_what_a_partial_clone_lacks_is_reported(self):
        repo, url = self.remote_repo()
        self.git(repo, "config", "uploadpack.allowFilter", "true")
        clone = os.path.join(self.tmp, "partial")
        self.git(self.tmp, "clone", "--quiet", "--no-checkout", "--filter=blob:none", url, clone)
        row = self.row(clone, check=3)
        self.assertEqual((row["coverage"]["failed"], row["coverage"]["paged"]), (2, 0))
        self.assertIn("object_missing", row["message"])
        self.git(clone, "fetch", "--quiet", "--refetch", "--no-filter", "origin")
        row = self.row(clone)
        self.assertEqual((row["status"], row["coverage"]["paged"]), ("remapped", 2))
        trees = os.path.join(self.tmp, "trees")
        self.git(self.tmp, "clone", "--quiet", "--no-checkout", "--filter=tree:0", url, trees)
        row = self.row(trees, "--scope", "trees", check=1)
        self.assertIn(row["code"], ("NOT_FOUND", "IO_ERROR"))

    def test_directories_that_a_partial_clone_lacks_are_in_the_ledger(self):
        repo, url = self.remote_repo()
        self.git(repo, "config", "uploadpack.allowFilter", "true")
        self.commit(repo, {"top": "1\n", "x/y/z": "2\n", "x/w": "3\n", "v/u": "4\n"})
        clone = os.path.join(self.tmp, "partial")
        self.git(self.tmp, "clone", "--quiet", "--no-checkout", "--filter=tree:1", url, clone)
        row = self.row(clone, check=3)
        failed = self.report("coverage", row["scope_id"], "--reason", "object_missing")["files"]
        self.assertLessEqual({"v", "x"}, {file["path"] for file in failed})
        self.assertEqual(sum(row["coverage"].values()), 2 * row["coverage"]["tracked"])
        self.git(clone, "fetch", "--quiet", "--refetch", "--no-filter", "origin")
        row = self.row(clone)
        self.assertEqual((row["status"], row["coverage"]["failed"]), ("remapped", 0))
        self.assertEqual(row["coverage"]["paged"], row["coverage"]["tracked"])

    def test_a_shallow_clone_is_mapped_and_its_history_is_missing(self):
        repo, url = self.remote_repo()
        self.commit(repo, {"c": "2\n"})
        clone = os.path.join(self.tmp, "shallow")
        self.git(self.tmp, "clone", "--quiet", "--depth=1", url, clone)
        self.assertEqual(self.row(clone)["coverage"]["paged"], 3)
        self.failure(clone, "--commit", "HEAD~1", code="NOT_FOUND")


class DamagedPacks(CloneTest):
    def test_flipped_bytes_in_packs_and_indexes_never_crash(self):
        repo = self.make_repo({f"d{i % 5}/f{i}.txt": f"line {i}\n" * (i + 1) for i in range(40)})
        for i in range(3):
            self.commit(repo, {"d0/f0.txt": f"{i}\n"})
        self.git(repo, "gc", "--quiet")
        [index] = glob.glob(os.path.join(repo, ".git/objects/pack/*.idx"))
        pack = index[:-3] + "pack"
        for other in glob.glob(os.path.join(repo, ".git/objects/pack/*.rev")):
            os.unlink(other)
        outcomes = set()
        for path in (index, pack):
            os.chmod(path, 0o644)
            with open(path, "rb") as file:
                sound = file.read()
            size = len(sound)
            places = [0, 3, 7, 8, 500, 1031, 1032, 1500, size // 2, size - 300, size - 41, size - 1]
            places += [1032 + 24 * 48 + 4 * i for i in range(4)] if path == index else []
            for place in places:
                damaged = bytearray(sound)
                damaged[place % size] ^= 0xFF
                with open(path, "wb") as file:
                    file.write(damaged)
                outcomes.add(self.vcm("map", repo, "--json").status)
            for cut in (0, 10, size // 2, size - 1):
                with open(path, "wb") as file:
                    file.write(sound[:cut])
                outcomes.add(self.vcm("map", repo, "--json").status)
            with open(path, "wb") as file:
                file.write(sound)
        self.assertEqual(self.vcm("map", repo).status, 0)
        self.assertTrue(outcomes <= {0, 1, 3}, outcomes)
        self.assertIn(1, outcomes)
        with open(index, "r+b") as file:
            file.write(b"\0" * 2000)
        self.assertRegex(self.failure(repo, code="IO_ERROR"), re.escape(os.path.basename(index)))
