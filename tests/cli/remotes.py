"""Remotes on this machine for the tests of clones: git's own server behind https, and sshd."""

import base64
import getpass
import http.server
import os
import shutil
import socket
import ssl
import subprocess
import threading
import time

USER, PASSWORD = "someone", "s3cr3t-p4ss"


class _Handler(http.server.BaseHTTPRequestHandler):
    """/ok/<repo> serves, /auth/<repo> asks for USER and PASSWORD, /status/<n> answers n, /hang never
    answers, /close hangs up, /http/<repo> leads to http, /away/<repo> to another host, /v0 speaks the
    oldest protocol, /flaky/<repo> fails twice, /page is no repository, /junk/<repo> sends refs and
    then something else, /lock/<repo> lets USER in and never answers, /held/<repo> serves once the test
    sets `released`."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def do_GET(self):
        self._serve(b"")

    def do_POST(self):
        if self.headers.get("Transfer-Encoding") == "chunked":
            body = b""
            while (size := int(self.rfile.readline(), 16)) > 0:
                body += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        else:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self._serve(body)

    def _answer(self, status, **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _serve(self, body):
        _, mode, rest = self.path.split("/", 2)
        self.server.seen.append((self.path, self.headers.get("Authorization")))
        if mode == "hang":
            self.server.stopping.wait(60)
        elif mode == "close":
            self.close_connection = True
        elif mode == "status":
            self._answer(int(rest.split("/")[0]))
        elif mode == "http":
            self._answer(302, Location=f"http://127.0.0.1:{self.server.server_port}/ok/{rest}")
        elif mode == "away":
            self._answer(302, Location=f"https://localhost:{self.server.server_port}/auth/{rest}")
        elif mode in ("auth", "lock") and not self._is_known():
            self._answer(401, WWW_Authenticate='Basic realm="test"')
        elif mode == "lock":
            self.server.stopping.wait(60)
        elif mode == "held":
            self.server.released.wait(60)
            self._run_git(rest, body, mode)
        elif mode == "flaky" and sum(path.startswith("/flaky") for path, _ in self.server.seen) < 3:
            self._answer(503)
        elif mode == "page" or (mode == "junk" and self.command == "POST"):
            self._send(200, {"Content-Type": "text/html"}, b"<html>Welcome, please sign in</html>")
        else:
            self._run_git(rest, body, mode)

    def _is_known(self):
        words = self.headers.get("Authorization", "").split()
        return words[:1] == ["Basic"] and base64.b64decode(words[1]).decode() in self.server.known

    def _run_git(self, rest, body, mode):
        path, _, query = rest.partition("?")
        env = {
            "PATH": os.environ["PATH"], "GIT_PROJECT_ROOT": self.server.root,
            "GIT_HTTP_EXPORT_ALL": "1", "PATH_INFO": "/" + path, "QUERY_STRING": query,
            "REQUEST_METHOD": self.command, "REMOTE_ADDR": "127.0.0.1", "HOME": self.server.root,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""), "GIT_CONFIG_NOSYSTEM": "1",
            "CONTENT_LENGTH": str(len(body)), "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*",
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "GIT_PROTOCOL": "" if mode == "v0" else self.headers.get("Git-Protocol", ""),
        }
        run = subprocess.run(["git", "http-backend"], env=env, input=body, capture_output=True,
                             check=False, timeout=60)
        head, _, content = run.stdout.partition(b"\r\n\r\n")
        headers = dict(line.split(": ", 1) for line in head.decode().split("\r\n") if line)
        self._send(int(headers.pop("Status", "200").split()[0]), headers, content)

    def _send(self, status, headers, content):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


class HttpsRemote:
    """Serves the repositories below `root`. `certificate` is what a client has to trust."""

    def __init__(self, test, root):
        self.certificate = os.path.join(test.tmp, "certificate.pem")
        key = os.path.join(test.tmp, "key.pem")
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
             "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj",
             "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost", "-keyout",
             key, "-out", self.certificate], check=True, capture_output=True)
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self.server.daemon_threads = True
        self.server.root, self.server.seen = root, []
        self.server.known = {f"{USER}:{PASSWORD}", f"x-access-token:{PASSWORD}"}
        self.server.stopping, self.server.released = threading.Event(), threading.Event()
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.certificate, key)
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True,
                                                 do_handshake_on_connect=False)
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True)
        self.thread.start()
        test.addCleanup(self.stop)

    def stop(self):
        self.server.stopping.set()
        self.server.released.set()
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()

    @property
    def host(self):
        return f"127.0.0.1:{self.server.server_port}"

    def url(self, path, secret=""):
        return f"https://{secret}{self.host}/{path}"


class SshRemote:
    """sshd for the user who runs the tests. `command` is the ssh that can log in."""

    def __init__(self, test):
        self.folder = os.path.join(test.tmp, "ssh")
        server = shutil.which("sshd", path="/usr/sbin:/usr/local/sbin:" + os.environ["PATH"])
        os.mkdir(self.folder, 0o700)
        for name in ("host", "user", "other"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.path(name)],
                           check=True)
        if os.geteuid() == 0:
            os.makedirs("/run/sshd", exist_ok=True)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self._write("sshd_config", f"""
            ListenAddress 127.0.0.1:{self.port}
            HostKey {self.path("host")}
            AuthorizedKeysFile {self.path("user.pub")}
            PasswordAuthentication no
            KbdInteractiveAuthentication no
            StrictModes no
            UsePAM no
            PidFile none
            PermitRootLogin yes
            AcceptEnv GIT_PROTOCOL
            """)
        with open(self.path("host.pub"), encoding="ascii") as file:
            self._write("known_hosts", f"[127.0.0.1]:{self.port} {file.read()}")
        self._write("no_hosts", "")
        self.user = getpass.getuser()
        with open(self.path("log"), "wb") as log:
            self.daemon = subprocess.Popen([server, "-D", "-e", "-f", self.path("sshd_config")],
                                           stdout=log, stderr=log)
        test.addCleanup(self.stop)
        if not self._answers():
            with open(self.path("log"), encoding="utf-8", errors="replace") as log:
                test.fail(f"sshd does not come up: {log.read()}")

    def path(self, name):
        return os.path.join(self.folder, name)

    def _write(self, name, text):
        with open(self.path(name), "w", encoding="ascii") as file:
            file.write("\n".join(line.strip() for line in text.splitlines()) + "\n")
        os.chmod(self.path(name), 0o600)

    def _answers(self):
        for _ in range(100):
            if self.daemon.poll() is not None:
                return False
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                return True
            except OSError:
                time.sleep(0.05)
        return False

    def stop(self):
        self.daemon.terminate()
        self.daemon.wait()

    def command(self, key="user", hosts="known_hosts"):
        return (f"ssh -F none -i {self.path(key)} -o IdentitiesOnly=yes -o IdentityAgent=none "
                f"-o UserKnownHostsFile={self.path(hosts)} -o GlobalKnownHostsFile=/dev/null")

    def program(self, test, key="user", hosts="known_hosts"):
        """Puts an ssh before the real one that stands for the user's ~/.ssh and keeps our options."""
        folder = os.path.join(test.tmp, "ssh-bin")
        words = self.command(key, hosts) if key else self.command("none", hosts).replace(
            "-o IdentitiesOnly=yes -o IdentityAgent=none ", "")
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "ssh"), "w", encoding="ascii") as file:
            file.write(f'#!/bin/sh\nexec {shutil.which("ssh")}{words[3:]} "$@"\n')
        os.chmod(file.name, 0o755)
        test.env.pop("GIT_SSH_COMMAND", None)
        if folder not in test.env["PATH"]:
            test.env["PATH"] = f"{folder}:{test.env['PATH']}"

    def url(self, path):
        return f"ssh://{self.user}@127.0.0.1:{self.port}{path}"
