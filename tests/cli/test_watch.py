"""vcm watch and map --watch: which pages change, told as it happens."""

import json
import os
import select
import shutil
import signal
import time

import validated
import paging

PATIENCE_SECONDS = 30
MAP = ("schema_version: 1\nsources:\n"
       "  - {name: live, type: git_repo, start_dir: live}\n"
       "  - {name: frozen, type: git_repo, start_dir: frozen, static: true}\n")


class Watch:
    """A vcm that watches; what it prints is read line by line."""

    def __init__(self, test, *args, **options):
        self.test = test
        self.run = test.start(*args, **options)
        self.rest = b""

    def line(self):
        """The next line, or None at the end of the output."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while b"\n" not in self.rest:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.run.stdout], [], [], left)[0]:
                self.test.fail(f"no line came; there is {self.rest!r}")
            data = os.read(self.run.stdout.fileno(), 65536)
            if not data:
                return None
            self.rest += data
        line, self.rest = self.rest.split(b"\n", 1)
        validated.add(self.run.args[1:], line)
        return line.decode()

    def event(self):
        return json.loads(self.line())

    def stop(self, number=signal.SIGINT):
        """Ends it and returns its status, the objects that it printed meanwhile, and stderr."""
        self.run.send_signal(number)
        out, err = self.run.communicate(timeout=PATIENCE_SECONDS)
        lines = (self.rest + out).decode().splitlines()
        return self.run.returncode, [json.loads(line) for line in lines], err.decode()

    def wait_for_log(self, word):
        """Reads stderr until the word comes."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        seen = b""
        while word.encode() not in seen:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.run.stderr], [], [], left)[0]:
                self.test.fail(f"'{word}' did not come; there is {seen!r}")
            seen += os.read(self.run.stderr.fileno(), 65536)


class WatchTest(paging.PagingTest):
    def watch(self, *args, **options):
        return Watch(self, "watch", "--json", *args, **options)

    def events(self, watch, count):
        return [watch.event() for _ in range(count)]

    def apply(self, table, event):
        """Does to a table of pages what the event tells."""
        if event["event"] == "page_invalidated":
            del table[event["page_id"]]
            return
        if event["event"] == "page_replaced":
            del table[event["old_page_id"]]
        self.assertNotIn(event["page_id"], table)
        table[event["page_id"]] = event["paths"]

    def table(self, scope):
        return {page["page_id"]: page["files"] for page in self.pages("--scope", scope)}

    def assert_stops(self, watch):
        status, rest, err = watch.stop()
        self.assertEqual((status, rest), (130, []), err)


class Settings(WatchTest):
    def test_a_watch_keeps_a_capacity_that_is_set_while_it_runs(self):
        def files(version):
            return {f"d{i}/f": "".join(f"{version} {i} {j}\n" for j in range(400))
                    for i in range(12)}

        self.vcm("config", "set", "mmap.flush_threshold", "1", check=0)
        repo = self.make_repo(files(0))
        self.map_row(repo, "--scope", "sample")
        watch = self.watch(repo, "--scope", "sample")
        self.commit(repo, {"d0/f": "changed\n"})
        watch.event()
        self.vcm("config", "set", "cache.capacity", "10KiB", check=0)
        self.vcm("config", "set", "cache.compressed_capacity", "2KiB", check=0)
        for version in (1, 2):
            self.commit(repo, files(version))
            for event in self.events(watch, 12):
                self.assertEqual(event["event"], "page_replaced")
            stat = self.stat()["bytes"]
            self.assertEqual(stat["capacity"], 10 << 10)
            self.assertLessEqual(stat["resident"], 10 << 10)
            self.assertLessEqual(stat["compressed"], 2 << 10)
        self.assert_stops(watch)
        self.vcm("verify", check=0)

    def test_a_watch_maps_with_what_is_set_while_it_runs(self):
        repo = self.make_repo({"a/one": "1\n", "a/two": "2\n"})
        self.assertEqual(self.map_row(repo, "--scope", "sample")["pages"], 1)
        watch = self.watch(repo, "--scope", "sample")
        self.commit(repo, {"a/one": "changed\n"})
        watch.event()
        self.vcm("config", "set", "mmap.flush_threshold", "1", check=0)
        self.commit(repo, {"a/one": "changed again\n"})
        self.assertEqual(len(self.events(watch, 2)), 2)
        self.assertEqual(len(self.table("sample")), 2)
        self.assert_stops(watch)

    def test_a_ref_that_is_not_mapped_does_not_map_again(self):
        repo = self.make_repo({"a/one": "1\n", "a/two": "2\n"})
        self.map_row(repo, "--scope", "sample")
        watch = self.watch(repo, "--scope", "sample")
        self.commit(repo, {"a/one": "changed\n"})
        watch.event()
        self.vcm("config", "set", "mmap.flush_threshold", "1", check=0)
        before = self.table("sample")
        self.git(repo, "branch", "other")
        time.sleep(2)  # several times as long as a round waits for more changes
        self.assertEqual(self.table("sample"), before)
        self.commit(repo, {"a/one": "changed again\n"})
        self.events(watch, 2)
        self.assert_stops(watch)


class Events(WatchTest):
    def test_commits_checkouts_and_rebases_are_followed(self):
        self.vcm("config", "set", "mmap.flush_threshold", "1", check=0)
        repo = self.make_repo({"a/one": "1\n", "b/two": "2\n"})
        before = self.map_row(repo, "--scope", "sample")
        self.assertEqual(before["pages"], 2)
        old = self.table("sample")
        watch = self.watch(repo, "--scope", "sample")

        self.commit(repo, {"a/one": "changed\n"})
        event = watch.event()
        self.assertEqual(list(event), ["event", "scope_id", "page_id", "old_page_id", "paths"])
        self.assertEqual(event["event"], "page_replaced")
        self.assertEqual(event["scope_id"], "sample")
        self.assertEqual(event["paths"], ["a/one"])
        self.assertIn(event["old_page_id"], old)
        new = self.table("sample")
        self.assertEqual(set(new) - set(old), {event["page_id"]})
        self.assertEqual(set(old) - set(new), {event["old_page_id"]})

        self.commit(repo, {"c/three": "3\n"})
        event = watch.event()
        self.assertEqual((event["event"], event["old_page_id"], event["paths"]),
                         ("page_added", None, ["c/three"]))

        self.git(repo, "checkout", "--quiet", "HEAD~1")
        event = watch.event()
        self.assertEqual((event["event"], event["old_page_id"], event["paths"]),
                         ("page_invalidated", None, ["c/three"]))

        self.git(repo, "checkout", "--quiet", "-b", "side", "HEAD~1")
        self.assertEqual(watch.event()["event"], "page_replaced")
        self.commit(repo, {"d/four": "4\n"})
        self.assertEqual(watch.event()["paths"], ["d/four"])
        table = self.table("sample")
        self.git(repo, "rebase", "--quiet", "main")
        self.commit(repo, {"e/five": "5\n"})
        # A slow machine sees what a rebase passes through; the last page is new at its end.
        while ["e/five"] not in table.values():
            self.apply(table, watch.event())
        self.assertEqual(table, self.table("sample"))
        self.assertEqual(len(table), 5)
        self.git(repo, "gc", "--quiet", "--prune=now")
        self.git(repo, "pack-refs", "--all")
        self.commit(repo, {"a/one": "after gc\n"})
        self.assertEqual(watch.event()["paths"], ["a/one"])
        self.assert_stops(watch)

    def test_what_moved_before_the_watch_began_is_told_too(self):
        repo = self.make_repo({"a": "1\n"})
        watch = self.watch(repo, "--scope", "sample")
        event = watch.event()
        self.assertEqual((event["event"], event["paths"]), ("page_added", ["a"]))
        self.assert_stops(watch)
        self.commit(repo, {"a": "2\n"})
        watch = self.watch(repo, "--scope", "sample")
        self.assertEqual(watch.event()["old_page_id"], event["page_id"])
        self.assert_stops(watch)

    def test_static_rows_do_not_move_but_by_an_explicit_map(self):
        repo = self.make_repo({"live/a": "1\n", "frozen/b": "1\n",
                               ".colony/repo_map.yaml": MAP})
        watch = self.watch(repo, "--scope", "sample")
        self.assertEqual([event["scope_id"] for event in self.events(watch, 2)],
                         ["sample:frozen", "sample:live"])
        frozen = self.table("sample:frozen")
        self.commit(repo, {"live/a": "2\n", "frozen/b": "2\n"})
        event = watch.event()
        self.assertEqual((event["event"], event["scope_id"]), ("page_replaced", "sample:live"))
        self.assertEqual(self.table("sample:frozen"), frozen)
        self.map(repo, "--scope", "sample")
        self.assertNotEqual(self.table("sample:frozen"), frozen)
        self.assert_no_more(watch, repo, "live/a")

    def assert_no_more(self, watch, repo, path):
        """The next events are those of another process's map, then of a new commit."""
        self.commit(repo, {path: "3\n"})
        seen = [watch.event()["scope_id"] for _ in range(2)]
        self.assertEqual(sorted(seen), ["sample:frozen", "sample:live"])
        self.assert_stops(watch)

    def test_a_row_that_leaves_the_map_invalidates_its_pages(self):
        repo = self.make_repo({"live/a": "1\n", "frozen/b": "1\n", ".colony/repo_map.yaml": MAP})
        self.map(repo, "--scope", "sample")
        watch = self.watch(repo, "--scope", "sample")
        self.commit(repo, {".colony/repo_map.yaml": MAP.rsplit("\n", 2)[0] + "\n"})
        event = watch.event()
        self.assertEqual((event["event"], event["scope_id"], event["paths"]),
                         ("page_invalidated", "sample:frozen", ["frozen/b"]))
        self.assert_stops(watch)

    def test_a_remote_is_polled(self):
        remote = self.make_repo({"r": "1\n"}, name="remote")
        repo = self.make_repo({".colony/repo_map.yaml":
                               "schema_version: 1\nsources:\n  - {name: far, type: git_repo, "
                               f"origin_url: 'file://{remote}'}}\n"})
        watch = self.watch(repo, "--scope", "sample", "--poll", "500ms")
        self.assertEqual(watch.event()["event"], "page_added")
        self.commit(remote, {"r": "2\n"})
        self.assertEqual(watch.event()["event"], "page_replaced")
        self.assert_stops(watch)

    def test_a_working_tree_follows_its_own_head(self):
        repo = self.make_repo({"a": "1\n"})
        tree = os.path.join(self.tmp, "tree")
        self.git(repo, "worktree", "add", "--quiet", "-b", "side", tree)
        self.map(tree, "--scope", "sample")
        watch = self.watch(tree, "--scope", "sample")
        self.commit(repo, {"a": "main moves\n"})
        self.commit(tree, {"b/b": "side moves\n"})
        self.assertIn("b/b", watch.event()["paths"])
        self.assert_stops(watch)


class Trouble(WatchTest):
    def test_a_repository_that_vanishes_is_waited_for(self):
        # A repository around the place is not the one that is watched.
        outer = self.make_repo({"outer": "o\n"}, name="outer")
        repo = os.path.join(outer, "inner")
        shutil.copytree(self.make_repo({"a": "1\n"}, name="first"), repo)
        self.map(repo, "--scope", "sample")
        watch = self.watch(repo, "--scope", "sample")
        self.commit(repo, {"a": "2\n"})
        self.assertEqual(watch.event()["event"], "page_replaced")
        away = os.path.join(self.tmp, "away")
        os.rename(repo, away)
        watch.wait_for_log("the repository is gone")
        self.commit(away, {"a": "3\n"})
        os.rename(away, repo)
        self.assertEqual(watch.event()["event"], "page_replaced")
        self.commit(repo, {"a": "4\n"})
        self.assertEqual(watch.event()["event"], "page_replaced")
        self.assert_stops(watch)
        self.assertEqual([scope["scope_id"] for scope in
                          self.vcm("scopes", "--json").json()["scopes"]], ["sample"])

    def test_a_map_that_is_wrong_is_reported_and_waited_for(self):
        repo = self.make_repo({"a": "1\n"})
        watch = self.watch(repo, "--scope", "sample")
        watch.event()
        self.commit(repo, {".colony/repo_map.yaml": "nonsense: true\n", "a": "2\n"})
        watch.wait_for_log("repo_map.yaml")
        self.commit(repo, {}, remove=[".colony/repo_map.yaml"])
        self.assertEqual(watch.event()["paths"], ["a"])
        self.assert_stops(watch)

    def test_it_ends_when_nobody_reads(self):
        repo = self.make_repo({"a": "1\n"})
        watch = self.watch(repo)
        watch.event()
        watch.run.stdout.close()
        self.assertEqual(watch.run.wait(timeout=PATIENCE_SECONDS), 0)

    def test_a_signal_ends_it_and_the_store_is_sound(self):
        repo = self.make_repo({"a": "1\n"})
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            watch = self.watch(repo)
            if number == signal.SIGINT:
                watch.event()
            else:
                time.sleep(0.2)
            self.assertEqual(watch.stop(number)[0], 130)
        self.assertEqual(self.map(repo)["status"], "already_mapped")

    def test_what_cannot_be_watched_is_refused_at_once(self):
        error = self.vcm("watch", self.tmp, "--json", check=1).json()["error"]
        self.assertEqual(error["code"], "NOT_FOUND")
        repo = self.make_repo({"a": "1\n"})
        for poll in ("0s", "fast", "25h", "60"):
            error = self.vcm("watch", repo, "--poll", poll, "--json", check=2).json()["error"]
            self.assertEqual(error["code"], "INVALID_ARGUMENT")
        self.vcm("watch", repo, "--only", "nobody", check=2)


class MapWatch(WatchTest):
    def test_the_document_of_the_map_comes_first(self):
        repo = self.make_repo({"live/a": "1\n", "frozen/b": "1\n", ".colony/repo_map.yaml": MAP})
        self.map(repo, "--scope", "sample")
        self.commit(repo, {"live/a": "2\n", "frozen/b": "2\n"})
        watch = Watch(self, "map", repo, "--scope", "sample", "--watch", "--json")
        document = watch.event()
        self.assertEqual([row["status"] for row in document["sources"]], ["remapped"] * 2)
        self.commit(repo, {"live/a": "3\n", "frozen/b": "3\n"})
        event = watch.event()
        self.assertEqual((event["event"], event["scope_id"]), ("page_replaced", "sample:live"))
        self.assert_stops(watch)

    def test_people_read_the_table_and_then_lines(self):
        repo = self.make_repo({"a": "1\n"})
        watch = Watch(self, "map", repo, "--scope", "sample", "--watch")
        lines = [watch.line() for _ in range(3)]
        self.assertIn("mapped", lines[0])
        self.commit(repo, {"a": "2\n"})
        line = watch.line()
        while not line.startswith("page_"):
            line = watch.line()
        self.assertRegex(line, r"^page_replaced +sample  [0-9a-f]{12} for [0-9a-f]{12}  a$")
        self.run_ends(watch)

    def run_ends(self, watch):
        watch.run.send_signal(signal.SIGINT)
        watch.run.communicate(timeout=PATIENCE_SECONDS)
        self.assertEqual(watch.run.returncode, 130)
