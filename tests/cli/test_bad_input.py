"""Where each kind of bad input is tested, and the tests that belong nowhere else."""

import os
import re
import shutil
import signal
import time

import harness
import paging

TESTS = os.path.join(os.path.dirname(os.path.realpath(__file__)), "..")

# What may come in, and the tests that prove what becomes of it.
TABLE = {
    "a branch that begins with '-', or is --upload-pack": [
        ("cli/test_clone.py", "branches_and_commits_that_look_like_options_are_refused"),
        ("git/test_repo.c", "names_that_begin_with_a_dash_are_refused")],
    "a URL that begins with '-', or carries an option": [
        ("cli/test_clone.py", "what_is_no_allowed_url_is_refused_before_anything_runs"),
        ("cli/test_bad_input.py", "a_url_that_carries_upload_pack_runs_nothing"),
        ("git/test_url.c", "what_could_be_a_trick_is_refused_without_being_repeated")],
    "a URL with credentials": [
        ("cli/test_remote.py", "credentials_in_the_url_are_used_and_not_kept"),
        ("cli/test_remote.py", "credentials_of_the_configuration_are_used_and_not_seen"),
        ("cli/test_map.py", "the_base_is_made_from_the_origin_without_its_credentials"),
        ("git/test_repo.c", "the_origin_loses_its_credentials")],
    "file:// outside of what the user named": [
        ("cli/test_clone.py", "a_map_from_a_url_may_not_name_this_machine")],
    "a commit that is none": [
        ("cli/test_clone.py", "what_is_no_commit_is_told"),
        ("cli/test_map.py", "what_is_not_there_is_named"),
        ("git/test_repo.c", "ids_of_other_objects_are_no_commits")],
    "an empty repository": [
        ("cli/test_map.py", "a_repository_without_a_commit_says_so"),
        ("cli/test_map.py", "an_empty_tree_has_no_pages"),
        ("cli/test_clone.py", "empty_unborn_detached_and_bare_remotes")],
    "an unborn branch": [
        ("git/test_repo.c", "an_orphan_branch_is_not_taken_for_an_empty_repository"),
        ("cli/test_clone.py", "empty_unborn_detached_and_bare_remotes")],
    "a detached HEAD": [
        ("cli/test_map.py", "branches_tags_ids_and_detached_heads"),
        ("git/test_repo.c", "a_detached_head_has_no_branch_but_a_commit")],
    "names with newlines, quotes and invalid UTF-8": [
        ("cli/test_map.py", "awkward_names_come_back"),
        ("git/test_tree.c", "names_that_lead_elsewhere_are_refused")],
    "names of 4,096 bytes": [
        ("cli/test_bad_input.py", "names_and_paths_of_4096_bytes_come_back"),
        ("git/test_tree.c", "a_path_longer_than_the_limit_ends_the_walk")],
    "a blob of 4 GB": [
        ("cli/test_large.py", "a_loose_object_of_4_gb_is_too_large_by_its_header_alone"),
        ("cli/test_large.py", "a_packed_object_of_4_gb_is_too_large_by_its_header_alone"),
        ("cli/test_map.py", "a_file_above_32_mib_is_too_large")],
    "a line of 100 MB": [
        ("cli/test_large.py", "a_line_of_a_megabyte_is_cut_and_one_of_100_is_too_large"),
        ("cli/test_map.py", "a_single_huge_line_is_cut_inside")],
    "a tree of 100,000 entries": [
        ("cli/test_large.py", "a_directory_of_100000_entries_is_mapped")],
    "500 levels of directories": [
        ("cli/test_large.py", "500_levels_of_directories_are_mapped"),
        ("git/test_tree.c", "depth_is_bounded")],
    "a corrupt pack": [
        ("cli/test_clone.py", "flipped_bytes_in_packs_and_indexes_never_crash"),
        ("cli/test_clone.py", "a_damaged_clone_is_made_anew"),
        ("git/test_pack_index.c", None), ("git/test_pack_reader.c", None)],
    "objects that are missing or damaged": [
        ("cli/test_map.py", "a_missing_object_fails_its_file_until_it_is_back"),
        ("cli/test_trouble.py", "a_tree_or_commit_that_is_cut_short_fails_the_row"),
        ("cli/test_remap.py",
         "a_directory_without_its_tree_is_one_entry_that_failed_until_it_comes"),
        ("cli/test_clone.py", "what_a_partial_clone_lacks_is_reported")],
    "a repository that changes while it is mapped": [
        ("cli/test_bad_input.py", "commits_and_gc_meanwhile_change_nothing"),
        ("cli/test_bad_input.py", "a_repository_that_vanishes_meanwhile_costs_the_run_alone")],
}


class Table(harness.VcmTest):
    def test_every_kind_of_bad_input_has_a_test_that_is_there(self):
        for kind, places in TABLE.items():
            for name, test in places:
                with open(os.path.join(TESTS, name), encoding="utf-8") as file:
                    text = file.read()
                pattern = rf"def test_{test}\(" if name.endswith(".py") else rf"\bvoid {test}\("
                self.assertTrue(test is None or re.search(pattern, text), (kind, name, test))


class Names(paging.PagingTest):
    def test_a_url_that_carries_upload_pack_runs_nothing(self):
        mark = os.path.join(self.tmp, "mark")
        for url in (f"--upload-pack=touch {mark}", "--upload-pack=true", "-u"):
            for words in ((url,), ("--", url)):
                result = self.vcm("map", *words)
                self.assertIn(result.status, (1, 2), result)
            row = "{name: r, type: git_repo, origin_url: '" + url + "'}"
            repo = self.make_repo({".colony/repo_map.yaml":
                                   f"schema_version: 1\nsources:\n  - {row}\n"},
                                  name=f"repo-{len(url)}")
            self.assertIn(self.vcm("map", repo).status, (1, 2))
        self.assertFalse(os.path.exists(mark))
        self.assertFalse(os.path.exists(os.path.join(self.home, "clones")))

    def test_names_and_paths_of_4096_bytes_come_back(self):
        repo = self.make_repo({"first": "x\n"})
        blob = self.git(repo, "rev-parse", "HEAD:first")
        tree = self.git(repo, "mktree", input=f"100644 blob {blob}\tleaf\n")
        parts = ["d" * 255] * 15 + ["d" * 249]
        for part in reversed(parts):
            tree = self.git(repo, "mktree", input=f"040000 tree {tree}\t{part}\n")
        names = ["n" * 4096, "\u00e9" * 2048, "x/" + "/".join(parts) + "/leaf"]
        tree = self.git(repo, "mktree", input=f"100644 blob {blob}\t{names[0]}\n"
                        f"100644 blob {blob}\t{names[1]}\n040000 tree {tree}\tx\n")
        self.assertEqual([len(name.encode()) for name in names], [4096] * 3)
        self.git(repo, "update-ref", "HEAD", self.git(repo, "commit-tree", "-m", "long", tree))
        row = self.map_row(repo)
        self.assertEqual(row["coverage"]["paged"], 3)
        paths = {path for page in self.check_mapping(repo, row) for path in page["files"]}
        self.assertEqual(paths, set(names))
        for name in names:
            self.vcm("find", name, check=0)


class Meanwhile(paging.PagingTest):
    def setUp(self):
        super().setUp()
        self.repo = self.make_repo({f"d{i % 40}/f{i}": f"file {i}\n" * (i % 50 + 1)
                                    for i in range(1200)})

    def begin(self, delay):
        """A map that is stopped somewhere on its way."""
        run = self.start("map", self.repo, "--scope", "s", "--json", "--jobs", "2")
        time.sleep(delay)
        run.send_signal(signal.SIGSTOP)
        return run

    def end(self, run):
        run.send_signal(signal.SIGCONT)
        out, err = run.communicate(timeout=harness.TIMEOUT_SECONDS)
        result = harness.Result(["map"], run.returncode, out, err)
        self.assert_no_crash(result)
        return result

    def ids_of(self, commit):
        home = os.path.join(self.tmp, "quiet")
        shutil.rmtree(home, ignore_errors=True)
        self.make_home(home)
        self.vcm("map", self.repo, "--scope", "s", "--commit", commit, check=0,
                 env={"VCM_HOME": home})
        return self.page_ids("--home", home)

    def test_commits_and_gc_meanwhile_change_nothing(self):
        for number, delay in enumerate((0.01, 0.05, 0.15, 0.3)):
            run = self.begin(delay)
            shutil.rmtree(os.path.join(self.repo, f"d{number}"))
            commit = self.commit(self.repo, {f"new{number}": "new\n", "d30/f30": f"{number}\n"})
            self.git(self.repo, "gc", "--quiet", "--prune=now")
            self.git(self.repo, "checkout", "--quiet", "-b", f"other{number}", "HEAD~1")
            self.git(self.repo, "checkout", "--quiet", "main")
            result = self.end(run)
            self.assertEqual(result.status, 0, result)
            row, = result.json()["sources"]
            self.assertEqual(row["coverage"]["failed"], 0)
            self.assertEqual(self.page_ids(), self.ids_of(row["commit"]))
            self.vcm("map", self.repo, "--scope", "s", check=0)
            self.assertEqual(self.page_ids(), self.ids_of(commit))

    def test_a_repository_that_vanishes_meanwhile_costs_the_run_alone(self):
        self.vcm("map", self.repo, "--scope", "before", check=0)
        hidden = os.path.join(self.tmp, "hidden")
        for delay in (0.01, 0.1):
            run = self.begin(delay)
            os.rename(os.path.join(self.repo, ".git"), hidden)
            result = self.end(run)
            self.assertIn(result.status, (0, 1, 3), result)
            self.vcm("verify", check=0)
            os.rename(hidden, os.path.join(self.repo, ".git"))
            row, = self.vcm("map", self.repo, "--scope", "s", "--json",
                            check=0).json()["sources"]
            self.assertEqual((row["coverage"]["paged"], row["coverage"]["failed"]), (1200, 0))
