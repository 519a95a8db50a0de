"""Bad luck: killed at any moment, a disk that is full, readers beside writers. The store opens,
verifies, and the next map gives the same pages as a run that was left alone."""

import os
import random
import signal
import subprocess
import threading
import time
import unittest

from harness import TIMEOUT_SECONDS
from test_trouble import TroubleTest

SEED = int(os.environ.get("VCM_TEST_SEED", "20261120"))
LONG = os.environ.get("VCM_TEST_LONG") == "1"
KILLS = 300 if LONG else 20
READING_SECONDS = 120 if LONG else 3


class LuckTest(TroubleTest):
    OPTIONS = ["--flush-token-budget", "2000"]

    def setUp(self):
        super().setUp()
        print(f"seed {SEED}")
        self.chosen = random.Random(SEED)
        self.repos = {}
        for scope in ("kept", "moved"):
            files = {f"{scope}/f{i:02}": "".join(f"call_{self.chosen.getrandbits(60)}();\n"
                                                 for _ in range(150)) for i in range(20)}
            self.repos[scope] = self.make_repo(files, name=scope)
            self.remap(scope)
        self.right = self.listing()
        self.ids = [page["page_id"] for page in self.right]

    def remap(self, scope, check=0):
        return self.vcm("map", self.repos[scope], "--scope", scope, *self.OPTIONS, "--json",
                        check=check)

    def listing(self):
        return [{key: page[key] for key in ("page_id", "scope_id", "seq", "files", "tokens", "bytes")}
                for page in self.pages()]

    def assert_sound(self, *args):
        document = self.vcm("verify", "--json", *args, check=0).json()
        self.assertTrue(document["ok"])


class Killed(LuckTest):
    def commands(self):
        """Something to be killed in, each time another."""
        some = self.chosen.sample(self.ids, 5)
        capacity = self.chosen.randrange(20000, 400000)
        return self.chosen.choice((
            ["map", self.repos["moved"], "--scope", f"extra{self.chosen.randrange(3)}",
             "--flush-token-budget", str(self.chosen.randrange(300, 3000))],
            ["map", self.repos["moved"], "--scope", "moved", *self.OPTIONS],
            ["fault", *some],
            ["lock", some[0], "--ttl", "1s"],
            ["evict", *some, "--to", self.chosen.choice(("compressed", "evicted"))],
            ["evict", "--all", "--to", self.chosen.choice(("compressed", "evicted"))],
            ["pin", "moved"],
            ["unpin", "moved"],
            ["gc"],
            ["config", "set", "cache.capacity", str(capacity)],
            ["config", "set", "cache.policy", self.chosen.choice(("lru", "sieve", "s3fifo", "lfu"))],
        ))

    def test_a_kill_at_any_moment_leaves_a_sound_store_and_the_same_pages(self):
        for number in range(KILLS):
            words = self.commands()
            moment = self.chosen.uniform(0, 0.06)
            with self.subTest(number=number, words=words, moment=moment):
                run = self.start(*words)
                time.sleep(moment)
                run.kill()
                run.communicate()
                self.assert_sound()
                self.assertFalse(os.path.exists(os.path.join(self.home, "store.damaged")))
        self.vcm("config", "set", "cache.capacity", "1GiB", check=0)
        for scope in ("extra0", "extra1", "extra2"):
            self.vcm("unmap", scope)
        for scope in self.repos:
            self.remap(scope)
        self.assertEqual(self.listing(), self.right)
        self.vcm("gc", check=0)
        self.assert_sound("--deep")
        self.assertEqual(self.stat()["pages"]["total"], len(set(self.ids)))
        before = self.vcm("evict", "--all", "--to", "evicted", "--json", check=0)
        self.assert_no_crash(before)
        for page in self.ids[:5]:
            self.vcm("page", page, "--json", check=0)


class Compacting(LuckTest):
    def test_gc_gives_space_back_whenever_it_was_interrupted_or_killed_before(self):
        store = os.path.join(self.home, "store")
        for number in range(KILLS):
            self.vcm("evict", "--all", "--to", self.chosen.choice(("compressed", "evicted")), check=0)
            self.vcm("fault", *self.chosen.sample(self.ids, 3), check=0)
            signal_number = self.chosen.choice((signal.SIGINT, signal.SIGTERM, signal.SIGKILL))
            moment = self.chosen.uniform(0, 0.03)
            with self.subTest(number=number, signal=signal_number, moment=moment):
                run = self.start("gc")
                time.sleep(moment)
                run.send_signal(signal_number)
                _, error = run.communicate(timeout=TIMEOUT_SECONDS)
                self.assertIn(run.returncode, (0, 130, -signal_number), error)
                self.assert_sound()
                self.assertEqual(self.listing(), self.right)
        before = self.stat()["bytes"]["file"]
        document = self.vcm("gc", "--json", check=0).json()
        self.assertLessEqual(document["bytes_after"], before)
        self.assertEqual(self.stat()["bytes"]["file"], document["bytes_after"])
        # Nothing is left of those that did not finish.
        with open(os.path.join(store, "generation"), "rb") as file:
            current = int.from_bytes(file.read(8), "little")
        self.assertEqual([name for name in os.listdir(store) if name[0].isdigit()], [str(current)])
        self.assertFalse(os.path.exists(os.path.join(store, "data.mdb")))
        self.assert_sound("--deep")


class Together(LuckTest):
    def assert_fault(self, result):
        """A fault waits 20 ms for the readers, who promote what they read, and for no longer: a page
        that did not come in is told as STORE_BUSY, the exit status counts these, and nothing else
        may be wrong."""
        pages = result.json()["pages"]
        self.assertEqual([page["page_id"] for page in pages], self.ids[:6])
        for page in pages:
            self.assertIn(page["fault"], ("hit", "minor", "major"))
            expected = None if page["state"] == "resident" else "STORE_BUSY"
            self.assertEqual(page["error"] and page["error"]["code"], expected, page)
        failed = sum(page["error"] is not None for page in pages)
        self.assertEqual(result.status, 0 if failed == 0 else 1 if failed == len(pages) else 3)

    def test_four_readers_beside_writers_always_get_the_right_bytes(self):
        right = {page: self.vcm("page", page, "--json", check=0).out for page in self.ids}
        wrong, reads = [], [0] * 4
        end = time.monotonic() + READING_SECONDS

        def read(number):
            chosen = random.Random(SEED + number)
            while time.monotonic() < end and not wrong:
                page = chosen.choice(self.ids)
                result = self.vcm("page", page, "--json")
                reads[number] += 1
                if result.status or result.out != right[page]:
                    wrong.append(str(result))

        readers = [threading.Thread(target=read, args=(number,)) for number in range(4)]
        for reader in readers:
            reader.start()
        while time.monotonic() < end:
            for words in (["evict", "--all"], ["evict", "--all", "--to", "evicted"],
                          ["fault", *self.ids[:6]], ["gc"],
                          ["config", "set", "cache.capacity", "100KiB"],
                          ["config", "set", "cache.capacity", "1GiB"]):
                result = self.vcm(*words, "--json", check=None if words[0] == "fault" else 0)
                if words[0] == "fault":
                    self.assert_fault(result)
        for reader in readers:
            reader.join()
        self.assertEqual(wrong, [])
        self.vcm("evict", "--all", "--to", "evicted", check=0)
        for page in self.vcm("fault", *self.ids, "--json", check=0).json()["pages"]:
            self.assertEqual((page["state"], page["error"]), ("resident", None))
        self.assertGreater(min(reads), 0)
        self.assert_sound()


class FullDisk(LuckTest):
    # Fills what is left of a small disk with a file, and tries everything that writes.
    SCRIPT = """
        mount -t tmpfs -o size=6m tmpfs "$1" || exit 70
        cp -r "$2" "$1/h" || exit 71
        dd if=/dev/zero of="$1/ballast" bs=4096 2> /dev/null
        for try in 'evict --all' 'fault '$4 'pin kept' 'evict --all --to evicted' gc \
                   'map '$5' --scope extra' 'config set cache.capacity 50KiB' verify; do
            "$3" $try --json --home "$1/h" > out 2> err
            echo "$? $(head -c 300 out)"
        done
        rm "$1/ballast"
        "$3" verify --deep --json --home "$1/h"
        echo "$?"
        "$3" pages --json --home "$1/h"
    """

    def test_a_full_disk_costs_nothing(self):
        mount = os.path.join(self.tmp, "mount")
        os.mkdir(mount)
        flags = self.in_mount_namespace("true")[1]
        run = subprocess.run(["unshare", flags, "sh", "-c", self.SCRIPT, "sh", mount, self.home,
                              self.program, self.ids[0], self.repos["moved"]], cwd=self.tmp,
                             env=self.env, capture_output=True, check=False,
                             timeout=TIMEOUT_SECONDS)
        if run.returncode in (70, 71):
            self.skipTest(f"cannot mount: {run.stderr.decode(errors='replace').strip()}")
        lines = run.stdout.decode().splitlines()
        self.assertEqual(len(lines), 8 + 3, lines)
        for line in lines[:7]:
            status, answer = line.split(" ", 1)
            self.assertIn(status, ("0", "1", "3"), line)
            if status == "1":
                self.assertRegex(answer, "STORE_FULL|IO_ERROR", line)
        self.assertTrue(lines[7].startswith('0 {"ok":true'), lines[7])
        self.assertTrue(lines[8].startswith('{"ok":true'), lines[8])
        self.assertEqual(lines[9], "0")
        for page in self.ids:
            self.assertIn(page, lines[10])


if __name__ == "__main__":
    unittest.main()
