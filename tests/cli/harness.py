"""What the command-line tests stand on: a clean environment, real git repositories, and vcm.

A test file is tests/cli/test_<topic>.py with classes derived from VcmTest; CMake finds it by its name
and runs it through run.py. The program under test comes from VCM_PROGRAM.

    class Map(harness.VcmTest):
        def test_a_mapped_file_comes_back_byte_for_byte(self):
            repo = self.make_repo({"a.txt": "hello\n", "bin": b"\\0\\1", "link": Symlink("a.txt")})
            self.vcm("map", repo, check=0)
            pages = self.vcm("pages", "--json", check=0).json()
"""

import fcntl
import json
import os
import pty
import select
import shutil
import signal
import struct
import subprocess
import tempfile
import termios
import time
import unittest
import unittest.mock

import validated

TIMEOUT_SECONDS = 240
# A status that vcm never has: a sanitizer's report must not pass for an expected failure.
SANITIZER_STATUS = 99
SUPPRESSIONS = os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "lsan.supp")
FIRST_COMMIT_AT = 1704067200  # 2024-01-01 00:00:00 UTC; every commit is a minute later


class Symlink(str):
    """A file content that makes a symbolic link to this target."""


class Executable(bytes):
    """A file content that makes an executable file."""


class Run(subprocess.Popen):
    """A running vcm; what it prints with --json is held against its description when all is done."""

    def communicate(self, *args, **options):
        out, err = super().communicate(*args, **options)
        validated.add(self.args[1:], out)
        return out, err


class Result:
    """How a run of vcm ended. `out` and `err` are text, `out_bytes` is what was really printed."""

    def __init__(self, args, status, out_bytes, err_bytes):
        self.args = args
        self.status = status
        self.out_bytes = out_bytes
        self.out = out_bytes.decode("utf-8", "surrogateescape")
        self.err = err_bytes.decode("utf-8", "surrogateescape")

    def json(self):
        """The one JSON document on stdout; duplicate keys are an error."""
        return json.loads(self.out_bytes.decode("utf-8"), object_pairs_hook=_unique_keys)

    def json_lines(self):
        return [json.loads(line, object_pairs_hook=_unique_keys) for line in self.out.splitlines()]

    def __str__(self):
        return (f"vcm {' '.join(map(str, self.args))}\nstatus: {self.status}\n"
                f"--- stdout\n{self.out}\n--- stderr\n{self.err}")


def _unique_keys(pairs):
    keys = [key for key, _ in pairs]
    if len(set(keys)) != len(keys):
        raise ValueError(f"duplicate key in {keys}")
    return dict(pairs)


def write_pids(test):
    """Lets every vcm of the test write its process id to a file first, and returns that file. For
    scripts that stand for a program which vcm starts, and kill vcm."""
    path, pid = os.path.join(test.tmp, "vcm-with-pid"), os.path.join(test.tmp, "vcm-pid")
    test.write(test.tmp, {"vcm-with-pid": Executable(
        f'#!/bin/sh\necho $$ > {pid}\nexec {test.program} "$@"\n'.encode())})
    changed = unittest.mock.patch.dict(os.environ, VCM_PROGRAM=path)
    changed.start()
    test.addCleanup(changed.stop)
    return pid


class VcmTest(unittest.TestCase):
    """Each test has a directory of its own, self.tmp, which is removed afterwards. In it: the home
    self.home (VCM_HOME, not created), and self.env, the environment for git and vcm."""

    maxDiff = None

    def setUp(self):
        # The real path, for tests compare it with what vcm prints.
        self.tmp = os.path.realpath(tempfile.mkdtemp(prefix="vcm-test-"))
        self.addCleanup(_remove_tree, self.tmp)
        self.home = os.path.join(self.tmp, "vcm-home")
        self.env = self._clean_environment()
        self._commits = 0

    @property
    def program(self):
        return os.environ["VCM_PROGRAM"]

    def _clean_environment(self):
        user, tmp = os.path.join(self.tmp, "user"), os.path.join(self.tmp, "tmp")
        os.mkdir(user)
        os.mkdir(tmp)
        sanitizer = f"exitcode={SANITIZER_STATUS}"
        return {
            "PATH": os.environ["PATH"],
            "HOME": user,
            "TMPDIR": tmp,
            "VCM_HOME": self.home,
            "LC_ALL": "C.UTF-8",
            "TZ": "UTC",
            "TERM": "xterm",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.path.join(user, ".gitconfig"),
            "GIT_TERMINAL_PROMPT": "0",
            # No test leaves this machine.
            "https_proxy": "http://127.0.0.1:9",
            "no_proxy": "127.0.0.1,localhost",
            "GIT_SSH_COMMAND": "false",
            "ASAN_OPTIONS": f"{os.environ.get('ASAN_OPTIONS', '')}:{sanitizer}",
            "LSAN_OPTIONS": f"suppressions={SUPPRESSIONS}:print_suppressions=0",
            "UBSAN_OPTIONS": f"{os.environ.get('UBSAN_OPTIONS', '')}:{sanitizer}",
            "TSAN_OPTIONS": f"{os.environ.get('TSAN_OPTIONS', '')}:{sanitizer}",
        }

    # Repositories

    def git(self, repo, *args, input=None):
        """Runs git in the repository and returns its stdout as text without the last newline."""
        when = f"{FIRST_COMMIT_AT + 60 * self._commits} +0000"
        env = dict(self.env, GIT_AUTHOR_NAME="A Tester", GIT_AUTHOR_EMAIL="tester@example.com",
                   GIT_COMMITTER_NAME="A Tester", GIT_COMMITTER_EMAIL="tester@example.com",
                   GIT_AUTHOR_DATE=when, GIT_COMMITTER_DATE=when)
        run = subprocess.run(["git", "-c", "protocol.file.allow=always", *args], cwd=repo, env=env,
                             input=_to_bytes(input), capture_output=True, check=False,
                             timeout=TIMEOUT_SECONDS)
        if run.returncode:
            self.fail(f"git {' '.join(args)}: {run.stderr.decode(errors='replace')}")
        return run.stdout.decode("utf-8", "surrogateescape").rstrip("\n")

    def make_repo(self, files, name="repo", branch="main", bare=False, origin=None):
        """A repository below self.tmp whose one commit holds the files; returns its path."""
        path = os.path.join(self.tmp, name)
        os.makedirs(path)
        self.git(path, "init", "--quiet", f"--initial-branch={branch}")
        if origin:
            self.git(path, "remote", "add", "origin", origin)
        self.commit(path, files, "first")
        if not bare:
            return path
        self.git(self.tmp, "clone", "--quiet", "--bare", path, path + ".git")
        return path + ".git"

    def commit(self, repo, files, message="next", remove=()):
        """Writes and removes files, commits everything, and returns the commit's id."""
        self.write(repo, files)
        for path in remove:
            os.unlink(os.path.join(repo, path))
        self._commits += 1
        self.git(repo, "add", "--all", "--force")
        self.git(repo, "commit", "--quiet", "--allow-empty", "-m", message)
        return self.git(repo, "rev-parse", "HEAD")

    @staticmethod
    def write(folder, files):
        """Writes files (path: str, bytes, Executable or Symlink) below a folder."""
        for path, content in files.items():
            path = os.path.join(folder, path)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            if os.path.lexists(path):
                os.unlink(path)
            if isinstance(content, Symlink):
                os.symlink(content, path)
                continue
            with open(path, "wb") as file:
                file.write(_to_bytes(content))
            os.chmod(path, 0o755 if isinstance(content, Executable) else 0o644)

    # The program

    def data_file(self):
        """The data file of the store that is in use: each gc, and each store that replaces a damaged
        one, has a directory of its own."""
        store = os.path.join(self.home, "store")
        try:
            with open(os.path.join(store, "generation"), "rb") as file:
                number = int.from_bytes(file.read(8), "little")
        except FileNotFoundError:
            number = 0
        return os.path.join(store, str(number) if number else "", "data.mdb")

    def vcm(self, *args, check=None, input=None, env=None, cwd=None, tty=False):
        """Runs vcm to its end. `check` is the exit status to insist on. `env` adds to self.env; a
        value of None removes the variable. `tty` makes stdin, stdout and stderr one terminal, whose
        output is then result.out; "out" or "err" does it for that stream alone."""
        if tty:
            result = self._run_on_terminal(args, tty, input, env, cwd)
        else:
            run = self.start(*args, env=env, cwd=cwd)
            try:
                out, err = run.communicate(_to_bytes(input), timeout=TIMEOUT_SECONDS)
            except subprocess.TimeoutExpired:
                run.kill()
                run.communicate()
                self.fail(f"vcm {' '.join(map(str, args))}: not done after {TIMEOUT_SECONDS} s")
            result = Result(args, run.returncode, out, err)
        self.assert_no_crash(result)
        if check is not None and result.status != check:
            self.fail(f"status {check} expected\n{result}")
        return result

    def start(self, *args, env=None, cwd=None, **popen):
        """Starts vcm in a process group of its own and returns the Popen, for tests that interrupt
        it, close its stdout, or run two at a time. It is killed when the test ends."""
        for stream in ("stdin", "stdout", "stderr"):
            popen.setdefault(stream, subprocess.PIPE)
        run = Run([self.program, *args], cwd=cwd or self.tmp, env=self._with(env), start_new_session=True,
                  **popen)
        self.addCleanup(_stop, run)
        return run

    def assert_no_crash(self, result):
        if (result.status == SANITIZER_STATUS or "Sanitizer" in result.err
                or ": runtime error: " in result.err):
            self.fail(f"a sanitizer spoke\n{result}")
        if -result.status in (signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE,
                              signal.SIGILL):
            self.fail(f"crashed\n{result}")

    def _with(self, env):
        merged = {**self.env, **(env or {})}
        return {name: value for name, value in merged.items() if value is not None}

    def _run_on_terminal(self, args, tty, input, env, cwd):
        ours, terminal = pty.openpty()
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        streams = {"stdin": terminal, "stdout": terminal, "stderr": terminal}
        if tty in ("out", "err"):
            streams = {f"std{tty}": terminal, "stdin": subprocess.DEVNULL}
        try:
            run = self.start(*args, env=env, cwd=cwd, **streams)
            os.close(terminal)
            if input is not None:
                os.write(ours, _to_bytes(input))
            other = {"out": run.stderr, "err": run.stdout}.get(tty)
            drawn, piped = _drain(ours, other.fileno() if other else None)
            status = run.wait(timeout=TIMEOUT_SECONDS)
        finally:
            os.close(ours)
        return Result(args, status, *((piped, drawn) if tty == "err" else (drawn, piped)))

    # Surroundings

    def mount_network_folder(self):
        """An empty folder on what looks like a network file system (fuse.sshfs); skips the test
        where nothing can be mounted."""
        real, mounted = os.path.join(self.tmp, "exported"), os.path.join(self.tmp, "mounted")
        os.mkdir(real)
        os.mkdir(mounted)
        if not os.path.exists("/dev/fuse"):
            self.skipTest("/dev/fuse is missing")
        run = subprocess.run(["bindfs", "-o", "subtype=sshfs", real, mounted], env=self.env,
                             capture_output=True, check=False)
        if run.returncode:
            self.skipTest(f"bindfs: {run.stderr.decode(errors='replace').strip()}")
        tool = ["umount"] if os.geteuid() == 0 else ["fusermount", "-u"]
        self.addCleanup(subprocess.run, [*tool, mounted], check=True)
        return mounted


class WriterLock:
    """Holds the lock of a home's only writer, or another, as a vcm that is writing does."""

    def __init__(self, home, name="store/writer.lock"):
        # Naming the process is the writer's part of the bargain.
        self.fd = os.open(os.path.join(home, name), os.O_RDWR)
        self._lock(fcntl.F_WRLCK)
        os.pwrite(self.fd, f"{os.getpid()}\n".encode(), 0)

    def release(self):
        os.ftruncate(self.fd, 0)
        self._lock(fcntl.F_UNLCK)
        os.close(self.fd)

    def _lock(self, kind):
        fcntl.fcntl(self.fd, fcntl.F_OFD_SETLK, struct.pack("hhqqi4x", kind, os.SEEK_SET, 0, 0, 0))


def _to_bytes(content):
    return content.encode("utf-8", "surrogateescape") if isinstance(content, str) else content


def _drain(terminal, pipe):
    """Everything that comes from the terminal and the pipe until both are closed."""
    texts = {fd: b"" for fd in (terminal, pipe) if fd is not None}
    live = set(texts)
    deadline = time.monotonic() + TIMEOUT_SECONDS
    while live and time.monotonic() < deadline:
        for fd in select.select(list(live), [], [], 1)[0]:
            try:
                data = os.read(fd, 65536)
            except OSError:  # EIO: the last process has closed the terminal
                data = b""
            if data:
                texts[fd] += data
            else:
                live.discard(fd)
    return texts[terminal], texts.get(pipe, b"")


def _stop(run):
    if run.poll() is None:
        os.killpg(run.pid, signal.SIGKILL)
        run.wait()
    for stream in (run.stdin, run.stdout, run.stderr):
        if stream:
            stream.close()


def _remove_tree(path):
    """Tests take permissions away from folders; give them back first."""
    for folder, folders, _ in os.walk(path):
        for name in folders:
            name = os.path.join(folder, name)
            if not os.path.islink(name):
                os.chmod(name, 0o700)
    shutil.rmtree(path)
