"""What a server or a kill can make of the git programs that vcm starts."""

import http.server
import json
import os
import re
import signal
import ssl
import subprocess
import threading
import time

import clones
import remotes

WATCHDOG_SECONDS = 30
REFS = b"001e# service=git-upload-pack\n0000"
LINE = b"003f" + b"1" * 40 + b" refs/heads/" + b"x" * 6 + b"\n"


class Endless(http.server.BaseHTTPRequestHandler):
    """/refs never ends its list of refs, /pack its pack, /lfs the content of a file; /silent says
    nothing after its headers."""

    def log_message(self, *args):
        pass

    def do_GET(self):
        self.connection.settimeout(WATCHDOG_SECONDS)
        if self.path.startswith("/lfs"):
            self.send_response(200)
            self.end_headers()
            self.pour(b"", b"x" * (1 << 20))
            return
        line = b"1" * 40 + b" HEAD\0shallow symref=HEAD:refs/heads/main\n"
        answer = REFS + b"%04x" % (len(line) + 4) + line + b"003d" + b"1" * 40 + b" refs/heads/main\n0000"
        self.send_response(200)
        self.send_header("Content-Type", "application/x-git-upload-pack-advertisement")
        if self.path.startswith("/pack"):
            self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        if self.path.startswith("/refs"):
            self.pour(REFS, LINE * 20000)
        elif self.path.startswith("/pack"):
            self.wfile.write(answer)
        else:
            self.server.stopping.wait(20 * WATCHDOG_SECONDS)

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path.startswith("/lfs"):
            self.answer_batch(json.loads(body))
            return
        answer = b"0034shallow " + b"1" * 40 + b"0000"
        self.send_response(200)
        self.send_header("Content-Type", "application/x-git-upload-pack-result")
        if b"done" not in body:
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)
            return
        self.end_headers()
        # A pack of a million blobs of 64 bytes, not compressed.
        blob = b"\xb0\x04\x78\x01\x01\x40\x00\xbf\xff" + b"\0" * 64 + b"\x00\x40\x00\x01"
        self.pour(answer + b"0008NAK\nPACK\0\0\0\2\0\x0f\x42\x40", blob * 10000)

    def answer_batch(self, question):
        """Every object is here, says the LFS server."""
        place = f"https://127.0.0.1:{self.server.server_port}/lfs/content"
        answer = json.dumps({"transfer": "basic", "objects": [
            {**item, "actions": {"download": {"href": place}}}
            for item in question["objects"]]}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/vnd.git-lfs+json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def pour(self, first, more):
        try:
            self.wfile.write(first)
            while not self.server.stopping.is_set():
                self.wfile.write(more)
                self.server.poured += len(more)
        except OSError:
            pass


class GitChild(clones.CloneTest):
    def setUp(self):
        super().setUp()
        remote = remotes.HttpsRemote(self, self.tmp)  # for its certificate
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Endless)
        self.server.daemon_threads = True
        self.server.stopping, self.server.poured = threading.Event(), 0
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(remote.certificate, os.path.join(self.tmp, "key.pem"))
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True,
                                                 do_handshake_on_connect=False)
        thread = threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)
        self.addCleanup(self.server.stopping.set)
        self.git(self.tmp, "config", "--global", "http.sslCAInfo", remote.certificate)

    def url(self, mode):
        return f"https://127.0.0.1:{self.server.server_port}/{mode}/x.git"

    def programs(self):
        """The processes that have this test's directory in their environment."""
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/environ", "rb") as file:
                    ours = f"VCM_HOME={self.home}".encode() in file.read()
                with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
                    state = file.read().rsplit(")", 1)[1].split()[0]
                with open(f"/proc/{pid}/cmdline", "rb") as file:
                    words = file.read().replace(b"\0", b" ").decode(errors="replace")
            except OSError:
                continue
            if ours and state != "Z":
                found.append((int(pid), words))
        return found

    def wait_for(self, condition, what):
        deadline = time.monotonic() + WATCHDOG_SECONDS
        while not condition():
            self.assertLess(time.monotonic(), deadline, f"{what}: {self.programs()}")
            time.sleep(0.05)

    def test_a_list_of_refs_that_never_ends_is_refused_by_its_memory(self):
        self.vcm("config", "set", "fetch.max_memory", "64MiB", check=0)
        message = self.failure(self.url("refs"), code="UNSUPPORTED")
        self.assertIn("fetch.max_memory", message)
        self.assertLess(self.server.poured, 512 << 20)
        self.assertEqual(self.programs(), [])

    def test_a_pack_that_never_ends_is_refused_by_its_size(self):
        self.vcm("config", "set", "fetch.max_bytes", "4MiB", check=0)
        message = self.failure(self.url("pack"), code="UNSUPPORTED")
        self.assertIn("fetch.max_bytes", message)
        self.assertEqual(self.clones(), [])
        self.assertEqual(self.programs(), [])

    def test_content_of_lfs_that_never_ends_is_refused_by_its_size(self):
        repo = self.make_repo({"a.bin": "version https://git-lfs.github.com/spec/v1\n"
                                        f"oid sha256:{1:064x}\nsize 12\n"})
        self.git(repo, "remote", "add", "origin", self.url("lfs"))
        self.git(repo, "config", "lfs.url", self.url("lfs"))
        self.vcm("map", repo, check=0)
        self.vcm("config", "set", "fetch.max_bytes", "4MiB", check=0)
        document = self.vcm("lfs", "pull", "--json", check=1).json()
        self.assertIn("fetch.max_bytes", document["error"])
        self.assertLess(self.server.poured, 512 << 20)
        self.assertEqual(self.programs(), [])

    def test_a_server_that_is_silent_is_left_at_the_time_limit_with_all_programs(self):
        self.failure(self.url("silent"), "--timeout", "2s", code="TIMEOUT")
        self.assertEqual(self.programs(), [])

    def test_when_vcm_is_killed_no_git_is_left(self):
        for signal_number in (signal.SIGKILL, signal.SIGTERM):
            run = self.start("map", self.url("silent"))
            self.wait_for(lambda: any("remote-https" in words for _, words in self.programs()),
                          "git did not start its transport")
            os.kill(run.pid, signal_number)
            run.wait()
            self.wait_for(lambda: not self.programs(), "left behind")

    def test_when_vcm_is_killed_in_a_checkout_no_git_is_left(self):
        """A filter of the user stands for what git starts in a working copy."""
        _, url = self.remote_repo({"a.x": "1\n", ".gitattributes": "*.x filter=slow\n"})
        self.git(self.tmp, "config", "--global", "filter.slow.smudge", "sleep 1000; cat")
        run = self.start("repo", "fetch", url, "--dest", os.path.join(self.tmp, "dest"))
        self.wait_for(lambda: any(re.match("sleep", words) for _, words in self.programs()), "no filter")
        os.kill(run.pid, signal.SIGKILL)
        run.wait()
        self.wait_for(lambda: not self.programs(), "left behind")

    def test_the_locks_of_vcm_are_not_kept_by_what_it_started(self):
        run = self.start("map", self.url("silent"))
        self.wait_for(lambda: any("remote-https" in words for _, words in self.programs()),
                      "git did not start its transport")
        for pid, words in self.programs():
            if pid == run.pid:
                continue
            links = [os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd")]
            self.assertEqual([link for link in links if ".lock" in link], [], words)
