"""What goes wrong outside of vcm has its message and its status, and leaves a store that works."""

import json
import os
import random
import re
import shutil
import signal
import subprocess
import threading
import time

from harness import TIMEOUT_SECONDS, Result, WriterLock
from paging import PagingTest
from repo_map import MAP, map_of

SEED = 20240517
NOBODY = 65534


class TroubleTest(PagingTest):
    def run_under(self, prefix, *args, check=None):
        """Runs vcm by way of another program, such as setpriv."""
        run = subprocess.run([*prefix, self.program, *args], cwd=self.tmp, env=self.env,
                             stdin=subprocess.DEVNULL, capture_output=True, check=False,
                             timeout=TIMEOUT_SECONDS)
        result = Result(args, run.returncode, run.stdout, run.stderr)
        self.assert_no_crash(result)
        if check is not None and result.status != check:
            self.fail(f"status {check} expected\n{result}")
        return result

    def in_mount_namespace(self, script):
        """The words that run a command behind a script of mounts; skips where there are none."""
        flags = "-m" if os.geteuid() == 0 else "-rm"
        prefix = ["unshare", flags, "sh", "-c", f'{script} && exec "$@"', "sh"]
        probe = subprocess.run([*prefix, "true"], capture_output=True, check=False)
        if probe.returncode:
            self.skipTest(f"cannot mount: {probe.stderr.decode(errors='replace').strip()}")
        return prefix

    def make_large_repo(self, name="large"):
        """Some 6 MB, enough to be caught in the middle of mapping them."""
        chosen = random.Random(SEED)
        self.git(self.tmp, "config", "--global", "core.compression", "0")
        files = {f"f{i:02}": "".join(f"    call_{chosen.getrandbits(60):020}(argument);\n"
                                     for _ in range(9000)) for i in range(16)}
        return self.make_repo(files, name=name)

    def assert_error(self, result, code, *words):
        error = result.json()["error"]
        self.assertEqual(error["code"], code, result)
        for word in words:
            self.assertIn(word, error["message"])


class Places(TroubleTest):
    def test_what_is_no_repository_is_named(self):
        os.mkdir(os.path.join(self.tmp, "plain"))
        self.write(self.tmp, {"file": "text\n"})
        for place in ("plain", "nowhere", "file"):
            path = os.path.join(self.tmp, place)
            result = self.vcm("map", path)
            self.assertIn(result.status, (1, 2))
            self.assertRegex(result.err, rf"^vcm: [^\n]*{re.escape(path)}[^\n]*\n$")
        self.assert_error(self.vcm("map", "--json", cwd=os.path.join(self.tmp, "plain"), check=1),
                          "NOT_FOUND", "repository")
        self.assertEqual(os.listdir(self.home), ["config.yaml"])

    def as_nobody(self):
        """Words that run a command without the rights of root."""
        if os.geteuid() != 0:
            return []
        words = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
        os.chmod(self.tmp, 0o755)
        probe = subprocess.run([*words, "test", "-x", self.program], capture_output=True, check=False)
        if probe.returncode:
            self.skipTest("another user cannot run the program")
        return words

    def give_to_nobody(self, path):
        if os.geteuid() == 0:
            subprocess.run(["chown", "-R", f"{NOBODY}:{NOBODY}", path], check=True)

    def test_a_home_that_cannot_be_read_is_named(self):
        repo = self.make_repo({"a": "a\n"})
        self.map_row(repo)
        prefix = self.as_nobody()
        self.give_to_nobody(repo)
        os.chmod(self.home, 0)
        for words in (["scopes"], ["pages"], ["stat"], ["page", "abcdef"], ["config", "list"],
                      ["config", "set", "cache.policy", "lru"], ["map", repo], ["verify"], ["gc"],
                      ["evict", "--all"], ["fault", "abcdef"], ["lock", "abcdef", "--ttl", "1s"],
                      ["pin", "abcdef"], ["top", "--count", "1"], ["trace", "record"]):
            result = self.run_under(prefix, *words, "--json", check=1)
            self.assert_error(result, "IO_ERROR", self.home, "Permission denied")
        self.assertFalse(self.run_under(prefix, "doctor", "--json", check=1).json()["ok"])
        os.chmod(self.home, 0o700)
        self.assertEqual(self.map(repo if os.geteuid() else self.make_repo({"b": "b\n"}, name="b"),
                                  )["sources"][0]["coverage"]["paged"], 1)

    def make_routed_repo(self):
        """A repository with code, and with a document that goes to the knowledge base."""
        return self.make_repo({
            MAP: map_of("name: code, type: git_repo, start_dir: src", routes=["paths: ['docs/**']"]),
            "src/a.py": "def answer():\n    return question()\n\ndef question():\n    pass\n",
            "docs/weather.md": "# Weather\n\nIt rains in the mountains.\n"}, name="routed")

    def ask(self, prefix, repo):
        """What commands that only read answer, without what differs from run to run."""
        answers = []
        for words in (["kb", "search", "mountains"], ["kb", "stat"], ["kb", "list"],
                      ["symbols", repo], ["refs", "question", repo], ["repo", "map", repo],
                      ["map", repo]):
            result = self.run_under(prefix, *words, "--json", check=0)
            self.assertEqual(result.err, "", result)
            answers.append(re.sub(r'"elapsed_ms":\d+', "", result.out))
        return answers

    def assert_answers_without_writing(self, prefix, repo, expected):
        """With the cache of symbols, and without one; a temporary copy is gone afterwards."""
        place = os.path.join(self.tmp, "temporary")
        os.mkdir(place)
        os.chmod(place, 0o777)
        self.env["TMPDIR"] = place
        self.assertEqual(self.ask(prefix, repo), expected)
        shutil.rmtree(os.path.join(self.home, "symbols"))
        self.assertEqual(self.ask(prefix, repo), expected)
        self.assertEqual(os.listdir(place), [])
        self.assertNotIn("symbols", os.listdir(self.home))

    def test_a_home_that_cannot_be_written_can_be_read(self):
        repo, changed = self.make_routed_repo(), self.make_repo({"b": "b\n"}, name="changed")
        self.map_row(repo)
        expected = self.ask([], repo)
        prefix = self.as_nobody()
        self.give_to_nobody(repo)
        self.give_to_nobody(changed)
        for folder, _, names in os.walk(self.home):
            os.chmod(folder, 0o555)
            for name in names:
                os.chmod(os.path.join(folder, name), 0o444)
        for words in (["scopes"], ["pages"], ["stat"], ["config", "list"], ["doctor"],
                      ["verify", "--deep"], ["top", "--count", "1"]):
            self.run_under(prefix, *words, check=0)
        [page] = self.run_under(prefix, "pages", "--json", check=0).json()["pages"]
        self.assertIn("question", self.run_under(prefix, "page", page["page_id"], "--json",
                                                 check=0).json()["records"][0]["text"])
        self.run_under(prefix, "fault", page["page_id"], check=0)
        for words in (["map", changed], ["evict", "--all"], ["pin", page["page_id"]], ["gc"],
                      ["lock", page["page_id"], "--ttl", "1m"], ["kb", "clear", "--all"],
                      ["config", "set", "cache.policy", "lru"]):
            self.assert_error(self.run_under(prefix, *words, "--json", check=1), "IO_ERROR",
                              self.home)
        self.assert_answers_without_writing(prefix, repo, expected)

    def test_a_read_only_disk_can_be_read(self):
        repo = self.make_routed_repo()
        self.map_row(repo)
        expected = self.ask([], repo)
        prefix = self.in_mount_namespace(f"mount --bind {self.home} {self.home} && "
                                         f"mount -o remount,bind,ro {self.home}")
        [page] = self.run_under(prefix, "pages", "--json", check=0).json()["pages"]
        for words in (["scopes"], ["stat"], ["config", "list"], ["page", page["page_id"]]):
            self.assertEqual(self.run_under(prefix, *words, check=0).err, "")
        for state in ("compressed", "evicted"):
            self.vcm("evict", "--all", "--to", state, check=0)
            for words in (["page"], ["fault"]):
                self.assertEqual(self.run_under(prefix, *words, page["page_id"], check=0).err, "")
            self.assertEqual(self.pages()[0]["state"], state)
        changed = self.make_repo({"b": "b\n"}, name="changed")
        for words in (["map", changed], ["config", "set", "cache.policy", "lru"],
                      ["map", repo, "--flush-threshold", "3"]):
            result = self.run_under(prefix, *words, "--json", check=1)
            self.assert_error(result, "IO_ERROR", self.home, "Read-only file system")
        self.assertEqual(self.page_ids(), [page["page_id"]])
        self.assert_answers_without_writing(prefix, repo, expected)

    def test_a_read_only_disk_answers_for_a_commit_that_the_cache_of_symbols_lacks(self):
        repo = self.make_routed_repo()
        self.vcm("symbols", repo, check=0)
        self.commit(repo, {"src/b.py": "def added():\n    pass\n"})
        prefix = self.in_mount_namespace(f"mount --bind {self.home} {self.home} && "
                                         f"mount -o remount,bind,ro {self.home}")
        self.assertIn("added", self.run_under(prefix, "symbols", repo, check=0).out)

    def test_a_network_file_system_is_refused(self):
        home = os.path.join(self.mount_network_folder(), "home")
        repo = self.make_repo({"a": "a\n"})
        self.assert_error(self.vcm("map", repo, "--home", home, "--json", check=1), "UNSUPPORTED",
                          home, "network file system", "--home")
        self.assertFalse(os.path.exists(home))
        os.mkdir(home)
        for words in (["scopes"], ["pages"], ["stat"]):
            self.assert_error(self.vcm(*words, "--home", home, "--json", check=1), "UNSUPPORTED", home)
        findings = self.vcm("doctor", "--home", home, "--json", check=1).json()["findings"]
        [finding] = [finding for finding in findings if finding["check"] == "filesystem"]
        self.assertEqual(finding["status"], "error")
        self.assertTrue(finding["remedy"])


class FullDisk(TroubleTest):
    # One run of the script for all sizes: room for the folder alone, for half a header, and so on.
    SCRIPT = """
        for size in 4 12 20 80 88 120 400; do
            mount -t tmpfs -o size=${size}k tmpfs "$1" || exit 70
            mkdir -m 700 "$1/h" && echo 'tokenizer: approx4' > "$1/h/config.yaml"
            for try in map stat pages more map pages; do
                if [ $try = more ]; then
                    mount -o remount,size=16m "$1" || exit 71
                    continue
                fi
                arguments=$try
                [ $try = map ] && arguments="map $2"
                "$3" $arguments --json --home "$1/h" > out 2> err
                echo "$size $try $? $(cat out) $(tr '\\n' ' ' < err)"
            done
            umount "$1" || exit 72
        done
    """

    def test_a_full_disk_leaves_a_store_that_works_when_there_is_room(self):
        chosen = random.Random(SEED)
        repo = self.make_repo({f"f{i}": chosen.randbytes(3000).hex() for i in range(60)})
        self.map_row(repo)
        expected = self.page_ids()
        mount = os.path.join(self.tmp, "mount")
        os.mkdir(mount)
        flags = self.in_mount_namespace("true")[1]
        run = subprocess.run(["unshare", flags, "sh", "-c", self.SCRIPT, "sh", mount, repo,
                              self.program], cwd=self.tmp, env=self.env, capture_output=True,
                             check=False, timeout=TIMEOUT_SECONDS)
        if run.returncode:
            self.skipTest(f"cannot mount: {run.stderr.decode(errors='replace').strip()}")
        results = [line.split(" ", 3) for line in run.stdout.decode().splitlines()]
        self.assertEqual(len(results), 7 * 5)
        for first in range(0, len(results), 5):
            self._check_size(results[first:first + 5], expected)

    def _check_size(self, results, expected):
        for size, command, status, answer in results:
            self.assertIn(status, ("0", "1"), f"{size} KiB: {command}: {answer}")
        documents = [json.loads(answer.rsplit("}", 1)[0] + "}") for *_, answer in results]
        failed, _, empty, mapped, listed = documents
        self.assertEqual(results[0][2], "1", results[0])
        error = failed["error"] if "error" in failed else failed["sources"][0]
        self.assertIn(error["code"], ("STORE_FULL", "IO_ERROR"), results[0])
        self.assertEqual(empty, {"pages": [], "next_cursor": None}, results[2])
        self.assertEqual(mapped["status"], "mapped", results[3])
        self.assertEqual([page["page_id"] for page in listed["pages"]], expected)


class Streams(TroubleTest):
    def test_a_reader_that_has_seen_enough_is_no_failure(self):
        repo = self.make_repo({f"{i:03}-{'x' * 200}": "text\n" for i in range(400)})
        self.map_row(repo, "--flush-threshold", "1")
        for form in ([], ["--json"]):
            run = self.start("pages", *form)
            self.assertTrue(run.stdout.read(100))
            run.stdout.close()
            self.assertEqual(run.stderr.read(), b"")
            self.assertEqual(run.wait(TIMEOUT_SECONDS), 0)

    def test_a_full_standard_output_is_a_failure(self):
        for words in (["--help"], ["stat"], ["stat", "--json"], ["page", "abcdef", "--json"]):
            with open("/dev/full", "wb") as full:
                run = self.start(*words, stdout=full)
                error = run.stderr.read().decode()
                self.assertEqual(run.wait(TIMEOUT_SECONDS), 1)
            self.assertIn("standard output", error)

    def test_a_closed_stream_is_not_taken_for_the_store(self):
        repo = self.make_repo({"a": "a\n"})
        self.map_row(repo, "--scope", "open")
        for number, status in ((0, 0), (1, 1), (2, 0)):
            # Another writer makes vcm say something while it has the store open.
            lock = WriterLock(self.home)
            run = subprocess.Popen(["sh", "-c", f'exec "$@" {number}>&-', "sh", self.program, "map",
                                    repo, "--scope", f"closed{number}"], env=self.env, cwd=self.tmp,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            time.sleep(0.3)
            self.assertEqual(len(self.pages()), 1 + number)
            lock.release()
            _, error = run.communicate(timeout=TIMEOUT_SECONDS)
            self.assertEqual(run.returncode, status, error)
            self.assertEqual(b"standard output" in error, number == 1)
            store = os.path.join(self.home, "store")
            for name in os.listdir(store):
                with open(os.path.join(store, name), "rb") as file:
                    self.assertFalse(b"waiting for process" in file.read(), name)
        self.assertEqual([page["scope_id"] for page in self.pages()],
                         ["closed0", "closed1", "closed2", "open"])


class Interrupted(TroubleTest):
    def setUp(self):
        super().setUp()
        self.repo = self.make_large_repo()
        self.options = ["--scope", "large", "--flush-token-budget", "50000"]

    def duration(self):
        """Maps in another home; how long it took, and the pages."""
        home = os.path.join(self.tmp, "undisturbed")
        self.make_home(home)
        start = time.monotonic()
        self.map_row(self.repo, *self.options, "--home", home)
        return time.monotonic() - start, self.page_ids("--home", home)

    def begin_map(self):
        """A map that has begun and waits for the lock to write its first pages."""
        data = os.path.join(self.home, "store/data.mdb")
        before = os.stat(data).st_mtime_ns
        run = self.start("map", self.repo, *self.options)
        deadline = time.monotonic() + TIMEOUT_SECONDS
        while os.stat(data).st_mtime_ns == before and time.monotonic() < deadline:
            time.sleep(0.001)
        while time.monotonic() < deadline:
            try:
                return run, WriterLock(self.home)
            except BlockingIOError:
                time.sleep(0.001)
        self.fail("the map did not begin")

    def test_ctrl_c_ends_with_130_and_the_store_as_it_was(self):
        small = self.make_repo({"a": "a\n"}, name="small")
        self.map_row(small)
        before = self.page_ids(), self.stat()["pages"], self.stat()["tokens"]
        for number in (signal.SIGINT, signal.SIGTERM):
            run, lock = self.begin_map()
            run.send_signal(number)
            time.sleep(0.2)
            lock.release()
            out, error = run.communicate(timeout=TIMEOUT_SECONDS)
            self.assertEqual((run.returncode, out), (130, b""), error)
            self.assertRegex(error.decode(), r"(?m)^vcm: .*interrupted.*$")
            self.assertEqual((self.page_ids(), self.stat()["pages"], self.stat()["tokens"]), before)
        row = self.map_row(self.repo, *self.options)
        self.assertEqual(row["status"], "mapped")
        self.assertEqual(self.page_ids("--scope", "large"), self.duration()[1])

    def test_ctrl_c_while_waiting_for_another_writer(self):
        self.map_row(self.make_repo({"a": "a\n"}, name="small"))
        lock = WriterLock(self.home)
        run = self.start("map", self.repo, *self.options, "--json")
        self.assertIn(b"waiting for process", run.stderr.readline())
        run.send_signal(signal.SIGINT)
        out, _ = run.communicate(timeout=TIMEOUT_SECONDS)
        lock.release()
        self.assertEqual(run.returncode, 130)
        self.assertEqual(list(json.loads(out)), ["error"])

    def test_a_kill_at_any_moment_costs_nothing_but_the_run(self):
        seconds, expected = self.duration()
        chosen = random.Random(SEED)
        print(f"seed {SEED}")
        small = self.make_repo({"a": "a\n"}, name="small")
        self.map_row(small, "--scope", "small")
        for _ in range(4):
            moment = chosen.uniform(0, seconds)
            run = self.start("map", self.repo, *self.options)
            time.sleep(moment)
            run.kill()
            run.communicate()
            self.assertEqual(len(self.page_ids("--scope", "small")), 1)
        self.map(self.repo, *self.options)
        self.assertEqual(self.page_ids("--scope", "large"), expected)
        stat = self.stat()
        self.assertEqual(stat["pages"]["total"], len(set(expected)) + 1)
        self.assertEqual(stat["bytes"]["resident"], sum(
            {page["page_id"]: page["bytes"] for page in self.pages()}.values()))


class Together(TroubleTest):
    def test_two_maps_at_a_time(self):
        repos = [self.make_repo({f"f{i}": f"{name} {i}\n" * 500 for i in range(60)}, name=name)
                 for name in ("one", "two", "three")]
        runs = [self.start("map", repo, "--json") for repo in repos]
        listings = [len(self.pages()) for _ in range(3)]
        rows = []
        for run in runs:
            out, error = run.communicate(timeout=TIMEOUT_SECONDS)
            self.assertEqual(run.returncode, 0, error)
            rows.append(json.loads(out)["sources"][0])
        self.assertLessEqual(max(listings), sum(row["pages"] for row in rows))
        self.assertEqual(self.stat()["pages"]["total"], sum(row["pages_created"] for row in rows))
        for repo, row in zip(repos, rows):
            self.assertEqual(self.map(repo)["status"], "already_mapped")
            self.assertEqual(len(self.pages("--scope", row["scope_id"])), row["pages"])

    def test_a_scope_mapped_twice_at_a_time_is_there_once(self):
        repo = self.make_repo({f"f{i}": f"{i}\n" * 500 for i in range(60)})
        runs = [self.start("map", repo, "--json") for _ in range(2)]
        for run in runs:
            _, error = run.communicate(timeout=TIMEOUT_SECONDS)
            self.assertEqual(run.returncode, 0, error)
        [scope] = self.vcm("scopes", "--json", check=0).json()["scopes"]
        self.assertEqual(self.stat()["pages"]["total"], scope["pages"])
        self.check_mapping(repo, scope)

    def test_a_writer_that_does_not_finish_is_named(self):
        self.map_row(self.make_repo({"a": "a\n"}, name="one"))
        before = self.page_ids()
        repo = self.make_repo({"b": "b\n"}, name="two")
        lock = WriterLock(self.home)
        answers = []
        start = time.monotonic()
        waiting = threading.Thread(target=lambda: answers.append(self.vcm("map", repo, "--json")))
        waiting.start()
        # Readers do not wait for writers.
        self.assertEqual(self.page_ids(), before)
        self.assertTrue(waiting.is_alive())
        waiting.join()
        lock.release()
        [result] = answers
        self.assertEqual(result.status, 1)
        document = result.json()
        error = document["error"] if "error" in document else document["sources"][0]
        self.assertEqual(error["code"], "STORE_BUSY")
        self.assertIn(f"process {os.getpid()}", error["message"])
        self.assertIn(f"waiting for process {os.getpid()}", result.err)
        self.assertGreaterEqual(time.monotonic() - start, 9)
        self.assertEqual(self.page_ids(), before)
        self.assertEqual(self.map(repo)["status"], "mapped")


class Damage(TroubleTest):
    def cut_object(self, repo, expression):
        """Leaves half of a loose object, on which libgit2's own reader does not end."""
        name = self.git(repo, "rev-parse", expression)
        path = os.path.join(repo, ".git/objects", name[:2], name[2:])
        os.chmod(path, 0o600)
        os.truncate(path, os.path.getsize(path) // 2)
        return name

    def test_a_blob_that_is_cut_short_fails_its_file(self):
        chosen = random.Random(SEED)
        large = "".join(f"{chosen.getrandbits(60):020}\n" for _ in range(9000))
        repo = self.make_repo({"a": "a\n", "b/large": large, "c": "c\n"})
        self.cut_object(repo, "HEAD:b/large")
        result = self.map(repo, check=3)
        [row] = result["sources"]
        self.assertEqual(result["status"], "partial")
        self.assertEqual((row["coverage"]["failed"], row["coverage"]["paged"]), (1, 2))
        self.assertIn("b/large (object_damaged)", row["message"])

    def test_a_tree_or_commit_that_is_cut_short_fails_the_row(self):
        for expression, words in (("HEAD:b", "directory 'b': the loose object is cut short"),
                                  ("HEAD^{tree}", "root directory: the loose object is cut short"),
                                  ("HEAD", "cannot follow HEAD")):
            repo = self.make_repo({"a": "a\n", "b/c": "c\n", "b/d": "d\n"},
                                  name=re.sub("[^A-Za-z]", "", expression))
            self.cut_object(repo, expression)
            document = self.vcm("map", repo, "--json", check=1).json()
            error = document["error"] if "error" in document else document["sources"][0]
            self.assertEqual(error["code"], "IO_ERROR", document)
            self.assertIn(words, error["message"])

    def test_a_damaged_store_gives_an_error_or_the_right_answer(self):
        repo = self.make_repo({f"f{i}": f"{i}\n" * 800 for i in range(20)})
        self.map_row(repo, "--scope", "sample")
        first = self.page_ids()[0]
        commands = (["scopes"], ["pages"], ["stat"], ["page", first])
        data = os.path.join(self.home, "store/data.mdb")
        with open(data, "rb") as file:
            whole = file.read()
        right = {command[0]: self.vcm(*command, "--json", check=0).json() for command in commands[:2]}
        chosen = random.Random(SEED)
        print(f"seed {SEED}")
        seen = set()
        for damaged in self.damages(whole, chosen):
            for command in commands:
                with open(data, "wb") as file:
                    file.write(damaged)
                result = self.vcm(*command, "--json")
                self.assertIn(result.status, (0, 1), result)
                document = result.json()
                if result.status == 0 and command[0] in right:
                    self.assertEqual(document, right[command[0]])
                elif result.status:
                    error = document["error"] if "error" in document else document["sources"][0]
                    self.assertEqual(error["code"], "STORE_CORRUPT", result)
                    self.assertIn(self.home, result.out)
                seen.add((command[0], result.status))
        for command in ("scopes", "pages", "page"):
            self.assertIn((command, 1), seen, "the damage must be seen at least once")

    @staticmethod
    def damages(whole, chosen):
        pages = len(whole) // 4096
        for size in (4096, len(whole) // 2, len(whole) - 4096):
            yield whole[:size]
        for _ in range(4):
            at = 4096 * chosen.randrange(pages)
            yield whole[:at] + chosen.randbytes(4096) + whole[at + 4096:]
        yield bytes(8192) + whole[8192:]
