"""vcm init: manifest, repo map and LFS patterns in one commit of exactly these files."""

import json
import os
import re
import shutil
import signal
import subprocess
import time

from bootstrap import ATTRIBUTES, FILES, MANIFEST, MAP, BootstrapTest
from harness import Executable, Symlink

GIT = shutil.which("git")


class Fresh(BootstrapTest):
    def test_an_empty_repository_gets_three_files_in_one_pushed_commit(self):
        remote = self.bare_remote()
        repo = self.empty_repo("thing", remote)
        document = self.init(repo)
        head = self.git(repo, "rev-parse", "HEAD")
        self.assertEqual(document, {
            "status": "initialized", "files_created": FILES, "committed_sha": head,
            "pushed": True, "push_error": None, "lfs_enabled": True, "migrated_to_lfs": False,
            "migrate_error": None, "warnings": [], "refs": [], "dry_run": False,
            "migration": None})
        self.assertEqual(self.committed(repo), FILES)
        self.assertEqual(self.git(repo, "status", "--porcelain"), "")
        self.assertEqual(self.git(remote, "rev-parse", "main"), head)
        self.assertEqual(self.git(repo, "log", "-1", "--format=%an <%ae> %cn <%ce>"),
                         "U Ser <user@example.com> U Ser <user@example.com>")
        self.assertEqual(self.git(repo, "config", "--local", "filter.lfs.required"), "true")

    def test_a_second_run_says_already_initialized_and_changes_nothing(self):
        repo = self.empty_repo("thing", self.bare_remote())
        self.init(repo)
        before = self.state(repo)
        document = self.init(repo)
        self.assertEqual((document["status"], document["files_created"],
                          document["committed_sha"], document["pushed"], document["push_error"]),
                         ("already_initialized", [], None, False, None))
        self.assertEqual(self.state(repo), before)
        self.assertIn("already initialized", self.vcm("init", repo, check=0).out)

    def test_the_manifest_is_sorted_indented_and_complete(self):
        repo = self.empty_repo("thing")
        self.init(repo, "--tenant", "acme", "--program", "Höhe")
        text = self.read(repo, MANIFEST).decode()
        manifest = json.loads(text)
        self.assertEqual(text, json.dumps(manifest, indent=2, sort_keys=True,
                                          ensure_ascii=False) + "\n")
        self.assertEqual(manifest, {
            "schema_version": 1, "tenant": "acme", "colony": "thing", "program": "Höhe",
            "target_system": "unspecified", "topology": "external", "design_repo_url": "",
            "credentials_ref": None, "imports_tooling_from": [],
            "lfs": {"mode": "same_remote", "separate_url": None, "credentials_ref": None},
            "webhook": {"enabled": False, "endpoint": None, "secret_ref": None},
            "default_branch": "main", "agent_email_domain": "agent.colony.local"})

    def test_names_come_from_the_remote(self):
        for number, (url, tenant, colony) in enumerate([
                ("https://u:hunter2@example.com/acme/robot.git", "acme", "robot"),
                ("git@example.com:acme/arm.git", "acme", "arm"),
                ("https://example.com/lonely", "unspecified", "lonely"),
                ("git@example.com:lonely", "unspecified", "lonely"),
                ("file:///srv/git/local.git", "unspecified", "local"),
                ("/srv/git/plain.git/", "unspecified", "plain")]):
            repo = self.empty_repo(f"repo{number}", url)
            self.init(repo, "--no-push")
            text = self.read(repo, MANIFEST).decode()
            manifest = json.loads(text)
            self.assertEqual((manifest["tenant"], manifest["colony"], manifest["program"]),
                             (tenant, colony, colony))
            self.assertNotIn("hunter2", text)

    def test_the_default_branch_is_the_one_that_head_is_on(self):
        repo = self.make_repo({"a": "a\n"}, branch="trunk")
        self.init(repo)
        self.assertEqual(json.loads(self.read(repo, MANIFEST))["default_branch"], "trunk")

    def test_the_examples_of_the_map_are_valid_when_uncommented(self):
        repo = self.empty_repo()
        self.init(repo)
        text = self.read(repo, MAP).decode()
        self.assertEqual(self.vcm("show", repo, "--json", check=0).json()["map"]["sources"][0]
                         ["name"], "default")
        self.assertEqual(len(self.vcm("show", repo, "--json").json()["map"]["sources"]), 1)
        uncommented, count = re.subn(r"^#(?!#)", "", text, flags=re.MULTILINE)
        self.assertGreater(count, 20)
        self.write(repo, {MAP: uncommented, "src/a.c": "int a;\n", "docs/a.md": "# A\n"})
        document = self.vcm("check", repo, "--json", check=0).json()
        self.assertEqual(document["errors"], [])
        self.assertEqual([row["name"] for row in document["sources"]],
                         ["default", "code", "literature", "reference", "upstream"])
        self.assertEqual(len(document["knowledge_routing"]), 2)

    def test_the_patterns_name_more_than_sixty_formats_and_work(self):
        repo = self.empty_repo()
        self.init(repo)
        text = self.read(repo, ATTRIBUTES).decode()
        lines = [line for line in text.splitlines() if line and not line.startswith("#")]
        self.assertEqual(len(lines), 63)
        self.assertEqual(len(set(lines)), 63)
        for line in lines:
            self.assertRegex(line, r"^\*\.[a-z0-9.]+ filter=lfs diff=lfs merge=lfs -text$")
        self.commit(repo, {"deep/a.pdf": b"%PDF\0" * 100})
        self.assertTrue(self.git(repo, "cat-file", "blob", "HEAD:deep/a.pdf").startswith(
            "version https://git-lfs.github.com/spec/v1\n"))

    def test_without_lfs_there_are_two_files_and_nothing_is_wired(self):
        repo = self.empty_repo()
        document = self.init(repo, "--no-lfs")
        self.assertEqual((document["files_created"], document["lfs_enabled"]), (FILES[:2], False))
        self.assertEqual(json.loads(self.read(repo, MANIFEST))["lfs"]["mode"], "disabled")
        self.assertNotIn("filter.lfs", self.git(repo, "config", "--local", "--list"))

    def test_the_directory_defaults_to_the_repository_around(self):
        repo = self.make_repo({"deep/er/a": "a\n"})
        self.vcm("init", check=0, cwd=os.path.join(repo, "deep/er"))
        self.assertEqual(self.committed(repo), FILES)

    def test_a_dry_run_only_tells(self):
        repo, remote = self.tracked_repo({"a": "a\n"})
        before, there = self.state(repo), self.git(remote, "for-each-ref")
        document = self.init(repo, "--dry-run")
        self.assertEqual((document["dry_run"], document["files_created"], document["committed_sha"],
                          document["migration"]), (True, FILES, None, None))
        self.assertEqual(self.state(repo), before)
        self.assertEqual(self.git(remote, "for-each-ref"), there)
        self.assertNotIn("filter.lfs", self.git(repo, "config", "--local", "--list"))
        self.assertIn("would write .gitattributes", self.vcm("init", repo, "--dry-run").out)


class Existing(BootstrapTest):
    def test_what_is_staged_or_dirty_stays_as_it_is(self):
        repo = self.make_repo({"a": "a\n", "b": "b\n", "gone": "g\n", "c": "c\n"})
        self.write(repo, {"a": "staged\n", "new": "new\n"})
        self.git(repo, "add", "a", "new")
        self.git(repo, "rm", "--quiet", "--cached", "c")
        self.write(repo, {"b": "dirty\n", "a": "staged, then dirty\n", "loose": "loose\n"})
        os.unlink(os.path.join(repo, "gone"))
        status = self.git(repo, "status", "--porcelain")
        staged = self.git(repo, "diff", "--cached")
        dirty = self.git(repo, "diff")
        document = self.init(repo)
        self.assertEqual(self.committed(repo), FILES)
        self.assertEqual(document["committed_sha"], self.git(repo, "rev-parse", "HEAD"))
        self.assertEqual(self.git(repo, "status", "--porcelain"), status)
        self.assertEqual(self.git(repo, "diff", "--cached"), staged)
        self.assertEqual(self.git(repo, "diff"), dirty)

    def test_files_that_are_there_are_never_touched(self):
        own = {MAP: "schema_version: 1\nsources: []\n", ATTRIBUTES: "*.pdf filter=lfs -text\r\n"}
        repo = self.make_repo(own)
        document = self.init(repo)
        self.assertEqual(document["files_created"], [MANIFEST])
        for path, text in own.items():
            self.assertEqual(self.read(repo, path).decode(), text)
        self.assertEqual(len(document["warnings"]), 1)
        self.assertIn("62 of the usual formats", document["warnings"][0])

    def test_a_full_gitattributes_is_no_reason_to_warn(self):
        repo = self.empty_repo("first")
        self.init(repo)
        other = self.make_repo({ATTRIBUTES: self.read(repo, ATTRIBUTES)}, name="other")
        self.assertEqual(self.init(other)["warnings"], [])

    def test_files_that_are_not_in_git_are_said(self):
        repo = self.make_repo({"a": "a\n"})
        self.write(repo, {MAP: "schema_version: 1\nsources: []\n"})
        document = self.init(repo)
        self.assertEqual(document["files_created"], [MANIFEST, ATTRIBUTES])
        self.assertIn(f"{MAP} was here but is not in git", document["warnings"][0])
        self.assertEqual(self.git(repo, "status", "--porcelain"), f"?? {MAP}")

    def test_a_file_that_was_deleted_is_not_made_again(self):
        repo = self.make_repo({"a": "a\n"})
        self.init(repo)
        os.unlink(os.path.join(repo, MAP))
        os.unlink(os.path.join(repo, MANIFEST))
        before = self.state(repo)
        document = self.init(repo)
        self.assertEqual(document["status"], "already_initialized")
        self.assertEqual(len(document["warnings"]), 2)
        self.assertIn("git restore", document["warnings"][0])
        self.assertEqual(self.state(repo), before)

    def test_committed_files_that_belong_into_lfs_are_counted(self):
        repo = self.make_repo({"a.pdf": b"%PDF", "b/c.png": b"PNG", "d.txt": "d\n", "e.pdf": b""})
        warnings = self.init(repo)["warnings"]
        self.assertEqual(len(warnings), 1)
        self.assertIn("2 committed files are not in LFS", warnings[0])
        self.assertIn("--migrate-existing-to-lfs", warnings[0])

    def test_an_ignored_folder_is_committed_all_the_same(self):
        repo = self.make_repo({".gitignore": ".colony\n"})
        self.assertEqual(self.init(repo)["files_created"], FILES)
        self.assertEqual(self.committed(repo), FILES)

    def test_disabled_lfs_is_turned_on_by_one_edit(self):
        repo = self.empty_repo()
        self.init(repo, "--no-lfs")
        text = self.read(repo, MANIFEST).decode()
        text = json.dumps(json.loads(text), indent=7).replace("\n", "\r\n")
        self.commit(repo, {MANIFEST: text.encode()})
        self.write(repo, {"loose": "x"})
        document = self.init(repo)
        self.assertEqual((document["status"], document["files_created"], document["lfs_enabled"]),
                         ("initialized", [MANIFEST, ATTRIBUTES], True))
        self.assertEqual(self.read(repo, MANIFEST).decode(),
                         text.replace('"disabled"', '"same_remote"'))
        self.assertEqual(self.committed(repo), [MANIFEST, ATTRIBUTES])
        self.assertEqual(self.git(repo, "status", "--porcelain"), "?? loose")

    def test_disabled_lfs_stays_off_with_no_lfs(self):
        repo = self.empty_repo()
        self.init(repo, "--no-lfs")
        before = self.state(repo)
        self.assertEqual(self.init(repo, "--no-lfs")["status"], "already_initialized")
        self.assertEqual(self.state(repo), before)

    def test_a_manifest_with_changes_is_not_edited(self):
        repo = self.empty_repo()
        self.init(repo, "--no-lfs")
        text = self.read(repo, MANIFEST).decode().replace("unspecified", "changed")
        self.write(repo, {MANIFEST: text})
        self.assertIn("not committed", self.refusal(repo)["message"])
        self.git(repo, "add", MANIFEST)
        self.assertIn("not committed", self.refusal(repo)["message"])

    def test_separate_storage_is_wired_and_left_alone(self):
        repo = self.empty_repo()
        self.init(repo)
        store = os.path.join(self.tmp, "store")
        manifest = json.loads(self.read(repo, MANIFEST))
        manifest["lfs"].update(mode="separate", separate_url=f"file://{store}")
        self.commit(repo, {MANIFEST: json.dumps(manifest)})
        before = self.state(repo)
        self.assertEqual(self.init(repo)["status"], "already_initialized")
        self.assertEqual(self.git(repo, "config", "--local", "lfs.url"), f"file://{store}")
        self.assertEqual(self.state(repo), before)
        self.git(repo, "config", "lfs.url", "https://example.com/mine")
        self.assertIn("lfs.url", self.init(repo)["warnings"][0])
        self.assertEqual(self.git(repo, "config", "lfs.url"), "https://example.com/mine")


class BadManifest(BootstrapTest):
    GOOD = {"schema_version": 1, "tenant": "t", "colony": "c", "program": "p",
            "target_system": "s", "design_repo_url": ""}

    def refused(self, text, *parts, code="INVALID_ARGUMENT"):
        repo = self.make_repo({MANIFEST: text, "a": "a\n"}, name=f"repo{self._commits}")
        status = 2 if code == "INVALID_ARGUMENT" else 1
        error = self.refusal(repo, check=status)
        self.assertEqual(error["code"], code)
        for part in (MANIFEST, *parts):
            self.assertIn(part, error["message"] + str(error.get("details")))

    def with_(self, **changes):
        return json.dumps({**self.GOOD, **changes}, indent=1)

    def test_unknown_keys_are_refused_with_their_place(self):
        self.refused(self.with_(tenannt="x"), "line 8, column 2", "unknown key 'tenannt'",
                     "did you mean 'tenant'")
        self.refused(self.with_(lfs={"mode": "same_remote", "quota": 3}), "line 10",
                     "unknown key 'quota'")
        self.refused(self.with_(imports_tooling_from=[{"name": "a", "url": "u", "x": 1}]),
                     "unknown key 'x'")

    def test_a_newer_schema_is_refused_whatever_keys_it_has(self):
        self.refused(self.with_(schema_version=2, extensions={}), "line 2", "newer vcm",
                     code="UNSUPPORTED")

    def test_wrong_types_and_words_are_refused(self):
        self.refused(self.with_(tenant=3), "line 3", "'tenant' must be a string")
        self.refused(self.with_(topology="cloud"), "one of external, self_hosted_gitea, air_gapped")
        self.refused(self.with_(lfs={"mode": "separate"}), "needs a 'separate_url'")
        self.refused(self.with_(lfs={"mode": "separate", "separate_url": "--upload-pack=x"}), "URL")
        self.refused(self.with_(webhook=[]), "'webhook' must be an object")
        self.refused(self.with_(schema_version="1"), "'schema_version' must be the number 1")
        self.refused(json.dumps({k: v for k, v in self.GOOD.items() if k != "colony"}),
                     "'colony' is missing")

    def test_what_is_no_json_is_refused(self):
        self.refused("{", "line 1")
        self.refused("", "JSON")
        self.refused("[]", "an object")
        self.refused('{"a": 1, "a": 2}', "line 1")


class Places(BootstrapTest):
    def test_what_is_no_repository_is_refused(self):
        folder = os.path.join(self.tmp, "plain")
        os.mkdir(folder)
        error = self.init(folder, check=1)["error"]
        self.assertEqual(error["code"], "NOT_FOUND")
        self.assertIn("git init", error["message"])
        self.assertEqual(os.listdir(folder), [])

    def test_a_bare_repository_is_refused(self):
        bare = self.make_repo({"a": "a\n"}, bare=True)
        error = self.init(bare, check=2)["error"]
        self.assertIn("bare repository", error["message"])

    def test_a_detached_head_gets_the_commit_but_no_push(self):
        repo, remote = self.tracked_repo({"a": "a\n"})
        there = self.git(remote, "for-each-ref")
        self.git(repo, "checkout", "--quiet", "--detach")
        document = self.init(repo)
        self.assertEqual(document["committed_sha"], self.git(repo, "rev-parse", "HEAD"))
        self.assertIn("detached", document["push_error"])
        self.assertIn("detached", document["warnings"][0])
        self.assertEqual(self.git(remote, "for-each-ref"), there)

    def test_a_linked_working_tree_has_its_own_branch(self):
        repo = self.make_repo({"a": "a\n"})
        tree = os.path.join(self.tmp, "tree")
        self.git(repo, "worktree", "add", "--quiet", "-b", "side", tree)
        before = self.state(repo)[3]
        self.init(tree)
        self.assertEqual(self.committed(repo, "side"), FILES)
        self.assertEqual(self.git(tree, "status", "--porcelain"), "")
        self.assertEqual(self.state(repo)[3], before)

    def test_a_submodule_is_a_repository_of_its_own(self):
        inner = self.make_repo({"i": "i\n"}, name="inner")
        outer = self.make_repo({"o": "o\n"}, name="outer")
        self.git(outer, "submodule", "--quiet", "add", inner, "sub")
        self.commit(outer, {})
        head = self.git(outer, "rev-parse", "HEAD")
        document = self.init(os.path.join(outer, "sub"), "--no-push")
        self.assertIn("submodule", document["warnings"][0])
        self.assertEqual(self.committed(os.path.join(outer, "sub")), FILES)
        self.assertEqual(self.git(outer, "rev-parse", "HEAD"), head)

    def test_a_colony_that_is_no_directory_is_refused(self):
        for number, content in enumerate(["file\n", Symlink("elsewhere")]):
            repo = self.make_repo({".colony": content, "elsewhere/x": "x\n"}, name=f"r{number}")
            self.assertIn("move it away", self.refusal(repo)["message"])

    def test_links_and_folders_in_place_of_files_are_refused(self):
        for path in FILES[:2]:
            repo = self.make_repo({path: Symlink("../a"), "a": "{}"}, name=path.replace("/", "-"))
            self.assertIn("symbolic link", self.refusal(repo)["message"])
        repo = self.make_repo({ATTRIBUTES + "/x": "x\n"}, name="folder")
        self.assertIn("no file", self.refusal(repo)["message"])

    def test_a_linked_gitattributes_is_left_and_said(self):
        repo = self.make_repo({ATTRIBUTES: Symlink("a"), "a": "*.pdf filter=lfs\n"})
        document = self.init(repo)
        self.assertEqual(document["files_created"], FILES[:2])
        self.assertIn("does not follow", document["warnings"][0])

    def test_a_merge_under_way_is_refused(self):
        repo = self.make_repo({"a": "a\n"})
        self.git(repo, "checkout", "--quiet", "-b", "side")
        self.commit(repo, {"b": "b\n"})
        self.git(repo, "checkout", "--quiet", "main")
        self.commit(repo, {"c": "c\n"})
        self.git(repo, "merge", "--quiet", "--no-commit", "side")
        self.assertIn("a merge is under way", self.refusal(repo)["message"])

    def test_arguments_that_begin_with_a_dash_are_refused(self):
        self.assertIn("begins with '-'", self.vcm("init", "--json", "--", "-x", check=2).out)
        repo = self.make_repo({"a": "a\n"})
        for option in ("--tenant", "--colony", "--program", "--message", "--author"):
            for value in ("-x", "", "a\x07b", "--exec=x"):
                self.assertEqual(self.refusal(repo, f"{option}={value}")["code"],
                                 "INVALID_ARGUMENT")


class Identity(BootstrapTest):
    def test_without_an_identity_nothing_is_written(self):
        self.write(self.env["HOME"], {".gitconfig": ""})
        repo = self.make_repo({"a": "a\n"})
        error = self.refusal(repo)
        self.assertIn("git config --global user.name", error["message"])

    def test_author_co_authors_and_message_can_be_given(self):
        repo = self.empty_repo()
        self.init(repo, "--author", "An Other <other@example.com>", "--co-author",
                  "One <one@example.com>", "--co-author", "Two <two@example.com>", "--message",
                  "chore: begin\n\nwith a body")
        self.assertEqual(self.git(repo, "log", "-1", "--format=%an <%ae>|%cn|%B"),
                         "An Other <other@example.com>|U Ser|chore: begin\n\nwith a body\n\n"
                         "Co-authored-by: One <one@example.com>\n"
                         "Co-authored-by: Two <two@example.com>")
        self.assertEqual(self.git(repo, "log", "-1",
                                  "--format=%(trailers:key=Co-authored-by,valueonly)").split("\n")[0],
                         "One <one@example.com>")

    def test_people_must_be_written_as_git_does(self):
        repo = self.make_repo({"a": "a\n"})
        for person in ("nobody", "a <b", "<a@b>", "a <>", "a <b> c", "a <b<c>>", "a\nb <c>"):
            for option in ("--author", "--co-author"):
                self.refusal(repo, option, person)

    def test_a_signature_that_fails_leaves_everything(self):
        repo = self.make_repo({"a": "a\n"})
        self.git(repo, "config", "commit.gpgSign", "true")
        self.git(repo, "config", "gpg.program", "false")
        self.refusal(repo, check=1)


class Trouble(BootstrapTest):
    def test_without_git_lfs_the_rest_is_done(self):
        repo = self.empty_repo(remote=self.bare_remote())
        document = self.init(repo, env={"PATH": self.tools("git", "sh")})
        self.assertEqual((document["files_created"], document["pushed"], document["lfs_enabled"]),
                         (FILES, True, False))
        self.assertIn("git-lfs is not installed", document["warnings"][0])
        self.assertIn("apt install git-lfs", document["warnings"][0])
        again = self.init(repo)
        self.assertEqual((again["status"], again["lfs_enabled"]), ("already_initialized", True))

    def test_without_git_nothing_is_done(self):
        repo = self.make_repo({"a": "a\n"})
        error = self.refusal(repo, check=1, env={"PATH": self.tools("sh")})
        self.assertIn("git", error["message"])

    def test_hooks_do_not_run(self):
        remote = self.bare_remote()
        repo = self.make_repo({"a": "a\n"}, origin=remote)
        hooks = os.path.join(repo, ".git/hooks")
        names = ["pre-commit", "commit-msg", "prepare-commit-msg", "reference-transaction",
                 "post-checkout", "post-index-change"]
        self.write(hooks, {name: Executable(b"#!/bin/sh\necho ran >> " + self.tmp.encode() +
                                            b"/ran\nexit 1\n") for name in names})
        self.assertTrue(self.init(repo)["pushed"])
        self.assertFalse(os.path.exists(os.path.join(self.tmp, "ran")))

    def test_a_hook_of_the_users_own_is_left_and_said(self):
        repo = self.empty_repo()
        self.write(repo, {".git/hooks/pre-push": Executable(b"#!/bin/sh\nexit 0\n")})
        document = self.init(repo)
        self.assertTrue(document["lfs_enabled"])
        self.assertIn("git lfs update --manual", document["warnings"][0])
        self.assertEqual(self.read(repo, ".git/hooks/pre-push"), b"#!/bin/sh\nexit 0\n")

    def test_shared_hooks_are_not_touched(self):
        shared = os.path.join(self.tmp, "shared")
        os.mkdir(shared)
        self.git(self.tmp, "config", "--global", "core.hooksPath", shared)
        repo = self.empty_repo()
        self.assertTrue(self.init(repo)["lfs_enabled"])
        self.assertEqual(os.listdir(shared), [])

    def test_a_locked_index_leaves_everything(self):
        repo = self.make_repo({"a": "a\n"})
        self.write(repo, {".git/index.lock": ""})
        before = self.state(repo)
        self.init(repo, check=1)
        self.assertEqual(self.state(repo), before)
        self.assertFalse([name for name in os.listdir(os.path.join(repo, ".git"))
                          if name.startswith("vcm-")])

    def test_a_branch_that_moves_meanwhile_leaves_everything_else(self):
        repo = self.make_repo({"a": "a\n"})
        other = self.git(repo, "commit-tree", "HEAD^{tree}", "-p", "HEAD", "-m", "other")
        before = self.state(repo)
        script = (f'#!/bin/sh\ncase "$*" in *update-ref*) {GIT} update-ref refs/heads/main {other};;'
                  f' esac\nexec {GIT} "$@"\n')
        error = self.init(repo, check=1, env={"PATH": self.tools("git-lfs", "sh", git=script)})
        self.assertIn("did it change meanwhile", error["error"]["message"])
        self.assertEqual(self.git(repo, "rev-parse", "HEAD"), other)
        self.assertEqual(self.state(repo)[1:], before[1:])

    def test_an_interruption_leaves_everything(self):
        repo = self.make_repo({"a": "a\n"})
        before = self.state(repo)
        # The files are on disk and staged by now.
        script = (f'#!/bin/sh\ncase "$*" in *update-ref*) touch {self.tmp}/reached; sleep 60;; esac\n'
                  f'exec {GIT} "$@"\n')
        run = self.start("init", repo, "--json", env={
            "PATH": self.tools("git-lfs", "sh", "touch", "sleep", git=script)})
        deadline = time.monotonic() + 60
        while not os.path.exists(os.path.join(self.tmp, "reached")):
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)
        self.assertNotEqual(self.state(repo), before)
        run.send_signal(signal.SIGINT)
        out, _ = run.communicate(timeout=60)
        self.assertEqual(run.returncode, 130, out)
        self.assertEqual(self.state(repo), before)

    def test_an_edited_manifest_is_put_back_when_the_commit_fails(self):
        repo = self.empty_repo()
        self.init(repo, "--no-lfs")
        other = self.git(repo, "commit-tree", "HEAD^{tree}", "-p", "HEAD", "-m", "other")
        before = self.state(repo)
        script = (f'#!/bin/sh\ncase "$*" in *update-ref*) {GIT} update-ref refs/heads/main {other};;'
                  f' esac\nexec {GIT} "$@"\n')
        self.init(repo, check=1, env={"PATH": self.tools("git-lfs", "sh", git=script)})
        self.assertEqual(self.state(repo)[1:], before[1:])

    def test_a_read_only_tree_leaves_everything(self):
        repo = self.make_repo({"a": "a\n"})
        before = self.state(repo)
        flags = "-m" if os.geteuid() == 0 else "-rm"
        script = 'mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && shift && exec "$@"'
        probe = subprocess.run(["unshare", flags, "sh", "-c", script, "sh", repo, "true"],
                               env=self.env, capture_output=True, check=False)
        if probe.returncode:
            self.skipTest(f"no mount of our own: {probe.stderr.decode().strip()}")
        run = subprocess.run(["unshare", flags, "sh", "-c", script, "sh", repo, self.program, "init",
                              repo, "--json"], env=self.env, capture_output=True, check=False)
        self.assertEqual(run.returncode, 1, run)
        self.assertEqual(self.state(repo), before)

    def test_variables_of_a_git_hook_do_not_lead_elsewhere(self):
        other = self.make_repo({"o": "o\n"}, name="other")
        repo = self.make_repo({"a": "a\n"})
        before = self.state(other)
        self.init(repo, env={"GIT_DIR": os.path.join(other, ".git"), "GIT_WORK_TREE": other,
                             "GIT_INDEX_FILE": os.path.join(other, ".git/index")})
        self.assertEqual(self.state(other), before)
        self.assertEqual(self.committed(repo), FILES)
