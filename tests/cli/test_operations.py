"""What keeps a store in order and shows what it does: gc, top, trace."""

import fcntl
import os
import pty
import random
import select
import signal
import termios
import threading
import time
import unittest

import harness
from paging import PagingTest

SEED = 20261119


class OperationsTest(PagingTest):
    def setUp(self):
        super().setUp()
        chosen = random.Random(SEED)
        self.repo = self.make_repo({f"d/f{i}": f"file {i} {chosen.random()}\n" * 300
                                    for i in range(12)})
        self.map_row(self.repo, "--scope", "tool", "--flush-token-budget", "2000")
        self.ids = self.page_ids()

    def run_json(self, *args, check=0):
        return self.vcm(*args, "--json", check=check).json()

    def store_bytes(self):
        """What the data files of the store take, of all generations."""
        total = 0
        for folder, _, names in os.walk(os.path.join(self.home, "store")):
            total += sum(os.path.getsize(os.path.join(folder, name)) for name in names
                         if name == "data.mdb")
        return total


class Gc(OperationsTest):
    def make_holes(self):
        chosen = random.Random(SEED)
        big = self.make_repo({f"g{i}": "".join(f"line {chosen.getrandbits(80)}\n"
                                               for _ in range(4000)) for i in range(20)}, name="big")
        self.map_row(big, "--scope", "big")
        self.vcm("unmap", "big", check=0)

    def test_space_is_given_back_and_nothing_is_lost(self):
        self.make_holes()
        before = {page: self.vcm("page", page, "--json", check=0).out for page in self.ids}
        size = self.store_bytes()
        document = self.run_json("gc")
        self.assertEqual(document["bytes_before"], size)
        self.assertEqual(document["bytes_after"], self.store_bytes())
        self.assertLess(document["bytes_after"], size // 2)
        self.assertEqual(document["pages_dropped"], 0)
        self.assertEqual({page: self.vcm("page", page, "--json", check=0).out
                          for page in self.ids}, before)
        self.assertEqual(self.stat()["bytes"]["file"], document["bytes_after"])
        self.run_json("verify", "--deep")
        again = self.run_json("gc")
        self.assertLessEqual(again["bytes_after"], again["bytes_before"])
        self.assertIn("the file had", self.vcm("gc", check=0).out)

    def test_readers_go_on_meanwhile(self):
        self.make_holes()
        stop, failures = threading.Event(), []

        def read():
            while not stop.is_set():
                for page in self.ids:
                    result = self.vcm("page", page, "--json")
                    if result.status:
                        failures.append(str(result))
                        return

        readers = [threading.Thread(target=read) for _ in range(2)]
        for reader in readers:
            reader.start()
        for _ in range(5):
            self.run_json("gc")
            self.run_json("evict", "--all")
        stop.set()
        for reader in readers:
            reader.join()
        self.assertEqual(failures, [])
        self.run_json("verify")

    def test_a_missing_home_has_nothing_to_drop_and_is_not_made(self):
        nowhere = os.path.join(self.tmp, "nowhere")
        self.assertEqual(self.run_json("gc", "--home", nowhere),
                         {"pages_dropped": 0, "bytes_before": 0, "bytes_after": 0,
                          "clones_dropped": 0, "clones_kept": 0, "clone_bytes": 0})
        self.assertFalse(os.path.exists(nowhere))


class Terminal:
    """vcm on a terminal, whose keys the test presses. The terminal stays open, so that its modes can
    be compared with what they were."""

    def __init__(self, test, *args):
        self.test = test
        self.ours, self.terminal = pty.openpty()
        test.addCleanup(os.close, self.ours)
        test.addCleanup(os.close, self.terminal)
        self.before = self.modes()
        self.run = test.start(*args, stdin=self.terminal, stdout=self.terminal, stderr=self.terminal,
                              env={"TERM": "xterm"}, preexec_fn=self.control)
        self.text = ""

    def control(self):
        fcntl.ioctl(self.terminal, termios.TIOCSCTTY, 0)

    def modes(self):
        return termios.tcgetattr(self.terminal)

    def press(self, keys):
        os.write(self.ours, keys.encode())

    def read(self, seconds):
        if not select.select([self.ours], [], [], seconds)[0]:
            return False
        self.text += os.read(self.ours, 65536).decode()
        return True

    def wait_for(self, words):
        while words not in self.text:
            self.test.assertTrue(self.read(harness.TIMEOUT_SECONDS), (words, self.text))
        self.text = self.text[self.text.index(words) + len(words):]

    def rest(self):
        """What comes after the end of the line, for a time of several samples."""
        self.wait_for(", q quit, ? help")
        while self.read(0.3):
            pass
        return self.text

    def end(self):
        """The exit status; the terminal must be as it was."""
        status = self.run.wait(timeout=harness.TIMEOUT_SECONDS)
        self.test.assertEqual(self.modes(), self.before)
        return status


class Top(OperationsTest):
    def test_with_json_each_look_is_an_object_like_that_of_stat(self):
        looks = self.vcm("top", "--count", "2", "--interval", "10ms", "--json", check=0).json_lines()
        self.assertEqual(len(looks), 2)
        stat = self.stat()
        for look in looks:
            self.assertEqual({key: look[key] for key in stat}, stat)
            self.assertEqual([scope["scope_id"] for scope in look["largest"]], ["tool"])
            self.assertEqual(look["largest"][0]["pages"], len(self.ids))
        self.assertIsNone(looks[0]["faults_per_second"])
        self.assertEqual(looks[1]["faults_per_second"], 0)

    def test_faults_are_told_as_a_rate(self):
        self.run_json("evict", "--all")
        run = self.start("top", "--count", "3", "--interval", "500ms", "--json")
        run.stdout.readline()
        self.run_json("fault", *self.ids)
        out, _ = run.communicate(timeout=60)
        self.assertEqual(run.returncode, 0)
        rates = [line for line in out.decode().splitlines() if '"faults_per_second":0,' not in line]
        self.assertTrue(rates, out)

    def test_without_a_terminal_it_refuses_what_would_not_end(self):
        refused = self.vcm("top", check=1)
        self.assertEqual((refused.out, refused.err), (
            "", "vcm: top does not end by itself; run it in a terminal, or with --json or --count N\n"))

    def test_without_a_terminal_each_look_is_a_line(self):
        out = self.vcm("top", "--count", "3", "--interval", "1ms", check=0).out
        self.assertEqual(out.count("\n"), 3)
        self.assertNotIn("\x1b", out)
        self.assertRegex(out, rf"^resident {len(self.ids)} ")

    def test_a_terminal_is_drawn_anew(self):
        out = self.vcm("top", "--count", "2", "--interval", "1ms", tty=True, check=0).out
        self.assertEqual(out.count("\x1b[H\x1b[2J"), 2)
        for word in ("resident", "compressed", "evicted", "hit ratio", "faults/s", "tool"):
            self.assertIn(word, out)

    def test_an_interruption_ends_it_with_130(self):
        run = self.start("top", "--interval", "100ms", "--json")
        run.stdout.readline()
        run.send_signal(signal.SIGINT)
        run.communicate(timeout=60)
        self.assertEqual(run.returncode, 130)

    def test_it_ends_when_nobody_reads(self):
        run = self.start("top", "--interval", "10ms", "--json")
        run.stdout.readline()
        run.stdout.close()
        self.assertEqual(run.wait(timeout=60), 0)
        run.stdout = None

    def test_q_ends_it(self):
        top = Terminal(self, "top", "--interval", "1h")
        top.wait_for("q quit, space pause, ? help")
        self.assertFalse(top.modes()[3] & (termios.ECHO | termios.ICANON))
        top.press("q")
        self.assertEqual(top.end(), 0)

    def test_space_pauses_and_goes_on(self):
        top = Terminal(self, "top", "--interval", "20ms")
        top.wait_for("q quit")
        top.press(" ")
        top.wait_for("paused: space goes on")
        self.assertEqual(top.rest(), "")
        top.press(" ")
        top.wait_for("q quit, space pause")
        top.wait_for("q quit, space pause")
        top.press(" ")
        top.wait_for("paused")
        top.press("q")
        self.assertEqual(top.end(), 0)

    def test_help_is_shown_and_left(self):
        top = Terminal(self, "top", "--interval", "1h")
        top.wait_for("q quit")
        top.press("?")
        top.wait_for("any key goes back")
        top.press("x")
        top.wait_for("hit ratio")
        top.press("?")
        top.wait_for("any key goes back")
        top.press("q")
        self.assertEqual(top.end(), 0)

    def test_the_terminal_is_put_back_whatever_ends_it(self):
        for number, status in ((signal.SIGINT, 130), (signal.SIGTERM, 130), (signal.SIGHUP, 130),
                               (signal.SIGQUIT, -signal.SIGQUIT)):
            top = Terminal(self, "top", "--interval", "1h")
            top.wait_for("q quit")
            top.run.send_signal(number)
            self.assertEqual(top.end(), status)
        top = Terminal(self, "top", "--interval", "1h")
        top.wait_for("q quit")
        top.press(" ")
        top.wait_for("paused")
        top.press("\x03")  # Ctrl-C
        self.assertEqual(top.end(), 130)
        top = Terminal(self, "top", "--count", "1")
        self.assertEqual(top.end(), 0)

    def test_the_options_are_checked(self):
        for words in (["--interval", "0s"], ["--interval", "fast"], ["--count", "0"]):
            self.vcm("top", *words, check=2)


class Trace(OperationsTest):
    def record(self, *args):
        """Starts a recording and waits until it records."""
        run = self.start("trace", "record", "--verbose", *args)
        for line in run.stderr:
            if b"recording" in line:
                error = self.run_json("trace", "record", "--duration", "1ms", check=1)["error"]
                self.assertEqual(error["code"], "STORE_BUSY")
                return run
        self.fail("the recording did not begin")

    def test_reads_of_other_processes_are_recorded_in_their_order(self):
        trace = os.path.join(self.tmp, "reads.trace")
        run = self.record("--output", trace, "--count", "6", "--json")
        wanted = [self.ids[0], self.ids[1], self.ids[0]]
        for page in wanted:
            self.run_json("page", page)
        self.run_json("evict", "--all")
        self.run_json("fault", *self.ids[2:5])
        out, _ = run.communicate(timeout=60)
        self.assertEqual(run.returncode, 0, out)
        self.assertIn(b'"accesses":6,"lost":0', out)
        with open(trace, encoding="utf-8") as file:
            lines = [line.split() for line in file]
        self.assertEqual([line[1] for line in lines[:3]], wanted)
        self.assertEqual({line[1] for line in lines[3:]}, set(self.ids[2:5]))
        times = [int(line[0]) for line in lines]
        self.assertEqual(times, sorted(times))
        sizes = {page["page_id"]: page["bytes"] for page in self.pages()}
        self.assertTrue(all(int(line[2]) == sizes[line[1]] for line in lines))
        document = self.run_json("trace", "replay", trace)
        self.assertEqual(document["accesses"], 6)

    def test_an_interruption_ends_it_and_the_trace_is_printed(self):
        run = self.record()
        self.run_json("page", self.ids[0])
        time.sleep(0.1)
        run.send_signal(signal.SIGINT)
        out, _ = run.communicate(timeout=60)
        self.assertEqual(run.returncode, 130)
        self.assertRegex(out.decode(), rf"^\d+ {self.ids[0]} \d+\n$")

    def test_a_replay_gives_every_policy_and_the_optimum(self):
        chosen = random.Random(SEED)
        trace = os.path.join(self.tmp, "made.trace")
        with open(trace, "w", encoding="utf-8") as file:
            for ms in range(5000):
                file.write(f"{ms} page{int(chosen.paretovariate(1)) % 300} 1000\n")
        document = self.run_json("trace", "replay", trace)
        self.assertEqual(list(document), ["accesses", "policies"])
        self.assertEqual(document["accesses"], 5000)
        rows = document["policies"]
        keys = [(row["policy"], row["capacity"]) for row in rows]
        self.assertEqual(keys, sorted(keys))
        self.assertEqual({row["policy"] for row in rows},
                         {"lfu", "lru", "optimum", "s3fifo", "sieve"})
        best = {row["capacity"]: row["hit_ratio"] for row in rows if row["policy"] == "optimum"}
        self.assertEqual(len(best), 5)
        for row in rows:
            self.assertLessEqual(row["hit_ratio"], best[row["capacity"]])
            self.assertEqual(row["hit_ratio"], row["byte_hit_ratio"])
        document = self.run_json("trace", "replay", trace, "--capacity", "50KiB")
        self.assertEqual([row["capacity"] for row in document["policies"]], [51200] * 5)
        self.assertIn("optimum", self.vcm("trace", "replay", trace, check=0).out)

    def test_a_bad_trace_is_named_with_its_line(self):
        trace = os.path.join(self.tmp, "bad.trace")
        self.write(self.tmp, {"bad.trace": "0 a 10\n1 b ten\n"})
        error = self.run_json("trace", "replay", trace, check=2)["error"]
        self.assertEqual(error["code"], "INVALID_ARGUMENT")
        self.assertIn(trace, error["message"])
        self.assertIn("2", error["message"])
        self.assertEqual(self.run_json("trace", "replay", trace + ".gone",
                                       check=1)["error"]["code"], "NOT_FOUND")
        self.vcm("trace", "replay", trace, "--capacity", "much", check=2)


if __name__ == "__main__":
    unittest.main()
