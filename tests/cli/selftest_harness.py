"""The harness sees what a program does, with a shell in the place of vcm."""

import os
import signal
import subprocess
import sys
import unittest

import harness
from harness import Executable, Symlink

HERE = os.path.dirname(os.path.abspath(__file__))


class Shell(harness.VcmTest):
    program = "/bin/sh"

    def sh(self, script, **options):
        return self.vcm("-c", script, **options)


class Running(Shell):
    def test_streams_status_and_input_are_told_apart(self):
        result = self.sh("cat; echo oops >&2; exit 3", input="in", check=3)
        self.assertEqual((result.out, result.err, result.status), ("in", "oops\n", 3))

    def test_an_unexpected_status_fails_the_test(self):
        with self.assertRaises(AssertionError):
            self.sh("exit 1", check=0)

    def test_a_sanitizer_report_fails_the_test_whatever_was_expected(self):
        for script in ["exit 99", "echo 'ERROR: AddressSanitizer: x' >&2; exit 1", "kill -SEGV $$"]:
            with self.assertRaises(AssertionError):
                self.sh(script)

    def test_json_with_a_key_twice_is_an_error(self):
        self.assertEqual(self.sh("""echo '{"a":[1]}'""").json(), {"a": [1]})
        with self.assertRaises(ValueError):
            self.sh("""echo '{"a":1,"a":2}'""").json()

    def test_the_environment_is_the_tests_own(self):
        os.environ["NO_COLOR"] = "1"
        self.addCleanup(os.environ.pop, "NO_COLOR")
        script = 'echo "${NO_COLOR-unset} $VCM_HOME $LC_ALL ${X-unset}"'
        self.assertEqual(self.sh(script).out, f"unset {self.home} C.UTF-8 unset\n")
        self.assertEqual(self.sh(script, env={"X": "1", "VCM_HOME": None}).out, "unset  C.UTF-8 1\n")
        self.assertFalse(os.path.exists(self.home))

    def test_a_started_program_can_be_interrupted(self):
        run = self.start("-c", "echo ready; exec sleep 100")
        self.assertEqual(run.stdout.readline(), b"ready\n")
        run.send_signal(signal.SIGINT)
        self.assertEqual(run.wait(10), -signal.SIGINT)


class Terminal(Shell):
    PROBE = "for fd in 0 1 2; do test -t $fd && printf y || printf n; done; echo e >&2"

    def test_all_streams_can_be_one_terminal(self):
        self.assertEqual(self.sh(self.PROBE, tty=True).out, "yyye\r\n")
        self.assertEqual(self.sh("stty size", tty=True).out, "24 80\r\n")

    def test_one_stream_can_be_a_terminal(self):
        result = self.sh(self.PROBE, tty="err")
        self.assertEqual((result.out, result.err), ("nny", "e\r\n"))
        result = self.sh(self.PROBE, tty="out")
        self.assertEqual((result.out, result.err), ("nyn", "e\n"))


class Repositories(Shell):
    FILES = {"a/b.txt": "text\n", "bin": b"\0\xff", "run": Executable(b"x"), "ln": Symlink("bin")}

    def test_a_repository_holds_the_files_and_its_commits_are_always_the_same(self):
        repo = self.make_repo(self.FILES)
        modes = [line.split()[0] for line in self.git(repo, "ls-tree", "-r", "HEAD").split("\n")]
        self.assertEqual(modes, ["100644", "100644", "120000", "100755"])
        self.assertEqual(self.git(repo, "log", "-1", "--format=%cI %an"),
                         "2024-01-01T00:01:00+00:00 A Tester")
        self.assertEqual(self.git(repo, "rev-parse", "HEAD"),
                         "7ed6dbe9e76105f73460ead80e8f6a1eb53dbdde")
        self.assertEqual(self.git(repo, "status", "--porcelain"), "")

    def test_a_commit_adds_changes_and_removes(self):
        repo = self.make_repo(self.FILES)
        self.commit(repo, {"bin": "now text"}, remove=["ln", "run"])
        self.assertEqual(self.git(repo, "ls-files"), "a/b.txt\nbin")
        self.assertEqual(self.git(repo, "show", "HEAD:bin"), "now text")

    def test_a_network_folder_has_a_network_type(self):
        folder = self.mount_network_folder()
        with open("/proc/self/mounts", encoding="utf-8") as mounts:
            kinds = [line.split()[2] for line in mounts if line.split()[1] == folder]
        self.assertEqual(kinds, ["fuse.sshfs"])


class Runner(Shell):
    def status_of(self, body):
        self.write(self.tmp, {"test_made_up.py": "import unittest\n" + body})
        return subprocess.run([sys.executable, "-B", os.path.join(HERE, "run.py"), "test_made_up"],
                              env=dict(self.env, PYTHONPATH=self.tmp), capture_output=True,
                              check=False).returncode

    def test_the_status_tells_passed_failed_skipped_and_nothing_run(self):
        test = "class T(unittest.TestCase):\n    def test_it(self):\n        "
        self.assertEqual(self.status_of(test + "pass\n"), 0)
        self.assertEqual(self.status_of(test + "self.fail()\n"), 1)
        self.assertEqual(self.status_of(test + "self.skipTest('no')\n"), 77)
        self.assertEqual(self.status_of(""), 1)
        self.assertEqual(self.status_of("raise SystemError\n"), 1)


if __name__ == "__main__":
    unittest.main()
