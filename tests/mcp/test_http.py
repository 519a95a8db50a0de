"""vcm serve: who may ask, what is refused, clients that leave, real clients, and the end of the server."""

import json
import os
import re
import signal
import socket
import subprocess
import time

import harness
import node
from mcp_client import META, MODERN, modern_meta

FILES = {"a.c": "int add(int a, int b)\n{\n    return a + b;\n}\n"}


class Http(harness.VcmTest):
    def setUp(self):
        super().setUp()
        self.repo = self.make_repo(FILES)
        self.run = None

    def serve(self, *args, **options):
        self.run = self.start("serve", "--json", "--root", self.repo, *args, **options)
        self.ready = json.loads(self.run.stdout.readline())
        if self.ready["url"]:
            self.port = int(self.ready["url"].rsplit(":", 1)[1].split("/")[0])
        with open(self.ready["token_file"], encoding="ascii") as file:
            self.tokens = dict(line.split() for line in file)
        return self.ready

    def tearDown(self):
        if self.run and self.run.poll() is None:
            self.run.terminate()
            out, err = self.run.communicate(timeout=harness.TIMEOUT_SECONDS)
            self.assert_no_crash(harness.Result(["serve"], self.run.returncode, out, err))
            self.assertEqual(self.run.returncode, 0, err)

    def connect(self):
        connection = socket.create_connection(("127.0.0.1", self.port), timeout=harness.TIMEOUT_SECONDS)
        self.addCleanup(connection.close)
        return connection

    def raw(self, data, connection=None):
        """Sends bytes and returns what comes until the server closes, or an answer is complete."""
        connection = connection or self.connect()
        try:
            connection.sendall(data)
        except (BrokenPipeError, ConnectionResetError):
            pass
        got = b""
        while True:
            try:
                more = connection.recv(65536)
            except ConnectionResetError:
                break
            got += more
            head, _, body = got.partition(b"\r\n\r\n")
            length = [int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(
                b"content-length:")]
            if not more or (length and len(body) >= length[0] and not head.startswith(b"HTTP/1.1 100")):
                break
        return got

    def status(self, data):
        got = self.raw(data)
        self.assertTrue(got.startswith(b"HTTP/1.1 "), got)
        return int(got.split()[1])

    def head(self, method="GET", path="/healthz", host=None, token=None, **headers):
        lines = [f"{method} {path} HTTP/1.1", f"Host: {host or f'127.0.0.1:{self.port}'}"]
        if token:
            lines.append(f"Authorization: Bearer {token}")
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        return "\r\n".join(lines).encode() + b"\r\n"

    def request(self, method, params=None, token=None, **headers):
        """The bytes of a modern request."""
        params = {**(params or {}), "_meta": modern_meta()}
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
        named = {"Mcp_Name": params["name"]} if "name" in params else {}
        return self.head("POST", "/mcp", token=token or self.tokens["all"], Content_Type="application/json",
                         MCP_Protocol_Version=MODERN, Mcp_Method=method, Content_Length=len(body), **named,
                         **headers) + b"\r\n" + body

    def answer(self, method, params=None, **options):
        got = self.raw(self.request(method, params, **options))
        return json.loads(got.partition(b"\r\n\r\n")[2])

    # Who may ask

    def test_tokens(self):
        ready = self.serve("--listen", "127.0.0.1:0")
        self.assertEqual(os.stat(ready["token_file"]).st_mode & 0o777, 0o600)
        self.assertEqual(ready["pid"], self.run.pid)
        self.assertEqual(self.status(self.head() + b"\r\n"), 200)
        for token in (None, "x", self.tokens["all"][:-1], self.tokens["all"] + "x", self.tokens["all"].swapcase()):
            for path in ("/mcp", "/metrics", "/", "/nothing"):
                self.assertEqual(self.status(self.head(path=path, token=token) + b"\r\n"), 401, (token, path))
        self.assertEqual(self.status(self.head(path="/metrics", token=self.tokens["read"]) + b"\r\n"), 200)
        self.assertEqual(self.status(self.head(path="/nothing", token=self.tokens["read"]) + b"\r\n"), 404)
        read = {t["name"] for t in self.answer("tools/list", token=self.tokens["read"])["result"]["tools"]}
        every = {t["name"] for t in self.answer("tools/list")["result"]["tools"]}
        self.assertIn("map", every - read)
        self.assertIn("scopes", read)
        denied = self.answer("tools/call", {"name": "map", "arguments": {}}, token=self.tokens["read"])
        self.assertEqual(denied["error"]["code"], -32602)
        self.assertFalse(self.answer("tools/call", {"name": "map", "arguments": {}})["result"]["isError"])

    def test_a_token_file_that_others_may_read_or_that_is_none_is_refused(self):
        for name, text, mode in (("open", f"read {'a' * 43}\nall {'b' * 43}\n", 0o644), ("other", "hello\n", 0o600)):
            path = os.path.join(self.tmp, name)
            self.write(self.tmp, {name: text})
            os.chmod(path, mode)
            self.vcm("serve", "--listen", "127.0.0.1:0", "--token-file", path, check=2)

    def test_hosts_and_origins_of_others_are_refused(self):
        self.serve("--listen", "127.0.0.1:0", "--allowed-host", "vcm.example.org")
        good = self.tokens["all"]
        for host, status in ((f"127.0.0.1:{self.port}", 200), (f"localhost:{self.port}", 200),
                             (f"[::1]:{self.port}", 200), ("vcm.example.org", 200), ("vcm.example.org:443", 200),
                             ("evil.example.com", 403), (f"evil.example.com:{self.port}", 403),
                             ("127.0.0.1:1", 403), ("127.0.0.1", 403), (f"127.0.0.1.evil.com:{self.port}", 403),
                             ("vcm.example.org.evil.com", 403), (f"127.0.0.1:{self.port}.evil.com", 403)):
            self.assertEqual(self.status(self.head(path="/metrics", host=host, token=good) + b"\r\n"), status, host)
            self.assertEqual(self.status(self.head(host=host) + b"\r\n"), status, host)
        for origin, status in ((f"http://127.0.0.1:{self.port}", 200), ("https://vcm.example.org", 200),
                               ("http://evil.example.com", 403), ("null", 403), ("", 403), ("http://127.0.0.1:1", 403)):
            got = self.status(self.head(path="/metrics", token=good, Origin=origin) + b"\r\n")
            self.assertEqual(got, status, origin)
        for site, status in (("same-origin", 200), ("none", 200), ("cross-site", 403), ("same-site", 403)):
            self.assertEqual(self.status(self.head(path="/metrics", token=good, Sec_Fetch_Site=site) + b"\r\n"), status)

    def test_addresses(self):
        self.assertIn("--allow-remote", self.vcm("serve", "--listen", "0.0.0.0:0", check=2).err)
        for address in ("nonsense", "127.0.0.1", "127.0.0.1:x", "127.0.0.1:99999", ":80", "[::1:80"):
            self.vcm("serve", "--listen", address, check=2)
        self.serve("--listen", "127.0.0.1:0")
        self.assertIn("in use", self.vcm("serve", "--listen", f"127.0.0.1:{self.port}", check=1).err)

    def test_a_socket_of_the_file_system_admits_its_owner_without_a_token(self):
        path = os.path.join(self.tmp, "sock")
        ready = self.serve("--unix", path)
        self.assertIsNone(ready["url"])
        self.assertEqual(os.stat(path).st_mode & 0o777, 0o600)
        connection = socket.socket(socket.AF_UNIX)
        self.addCleanup(connection.close)
        connection.connect(path)
        got = self.raw(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n", connection)
        self.assertTrue(got.startswith(b"HTTP/1.1 200"), got)
        self.assertIn("in use", self.vcm("serve", "--unix", path, check=1).err)
        self.run.terminate()
        self.run.wait(timeout=harness.TIMEOUT_SECONDS)
        self.assertFalse(os.path.exists(path))

    def test_a_socket_that_is_inherited_is_served(self):
        listener = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listener.close)
        fd = listener.fileno()
        script = f'exec 3<&{fd}; LISTEN_PID=$$ LISTEN_FDS=1 exec "{self.program}" serve --json'
        self.run = subprocess.Popen(["sh", "-c", script], env=self.env, pass_fds=[fd], stdout=subprocess.PIPE,
                                    stderr=subprocess.PIPE, cwd=self.repo)
        self.addCleanup(self.run.kill)
        self.port = int(json.loads(self.run.stdout.readline())["url"].rsplit(":", 1)[1])
        self.assertEqual(self.port, listener.getsockname()[1])
        self.assertEqual(self.status(self.head() + b"\r\n"), 200)

    # What is refused

    def test_what_rfc_9112_says_to_refuse_is_refused(self):
        self.serve("--listen", "127.0.0.1:0")
        host = f"Host: 127.0.0.1:{self.port}\r\n".encode()
        post = b"POST /healthz HTTP/1.1\r\n" + host
        get = b"GET /healthz HTTP/1.1\r\n" + host
        smuggled = b"GET /metrics HTTP/1.1\r\n\r\n"
        for data, status in [
                (post + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + smuggled, 400),
                (post + b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n", 400),
                (post + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello", 400),
                (post + b"Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello", 400),
                (post + b"Content-Length : 5\r\n\r\nhello", 400),
                (post + b"Content-Length: +5\r\n\r\nhello", 400),
                (post + b"Content-Length: 5, 5\r\n\r\nhello", 400),
                (post + b"Content-Length: -1\r\n\r\n", 400),
                (post + b"Content-Length: 99999999999999999999\r\n\r\n", 400),
                (post + b"Content-Length: 9000000\r\n\r\n", 413),
                (post + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 501),
                (post + b"Transfer-Encoding: identity\r\n\r\n", 501),
                (post + b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n", 501),
                (post + b"Transfer-Encoding:\x0bchunked\r\n\r\n0\r\n\r\n", 400),
                (post + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n\r\n", 400),
                (get + b"A: x\x00y\r\n\r\n", 400), (get + b"A: x\ry\r\n\r\n", 400), (get + b"A: x\n\r\n", 400),
                (get + b"A b: x\r\n\r\n", 400), (get + b": x\r\n\r\n", 400), (get + b"A: x\r\n y\r\n\r\n", 400),
                (get.replace(b"\r\n", b"\n") + b"\n", 400),
                (b"GET /healthz HTTP/1.1\r\n\r\n", 400), (get + host + b"\r\n", 400),
                (get.replace(b"HTTP/1.1", b"HTTP/2.0") + b"\r\n", 505), (get.replace(b"HTTP/1.1", b"HTTP/1.9") + b"\r\n", 505),
                (get.replace(b"/healthz", b"http://127.0.0.1/healthz") + b"\r\n", 400),
                (b"OPTIONS * HTTP/1.1\r\n" + host + b"\r\n", 400),
                (b"CONNECT 127.0.0.1:80 HTTP/1.1\r\n" + host + b"\r\n", 400),
                (get + b"Connection: Upgrade\r\nUpgrade: h2c\r\n\r\n", 400),
                (get + b"Expect: something\r\n\r\n", 417), (get + b"A: " + b"x" * 40000 + b"\r\n\r\n", 431),
                (get + b"".join(b"A%d: x\r\n" % i for i in range(200)) + b"\r\n", 431),
                (b"GET /" + b"x" * 40000 + b" HTTP/1.1\r\n", 431), (b"nonsense\r\n\r\n", 400), (b"\x16\x03\x01\r\n\r\n", 400)]:
            connection = self.connect()
            got = self.raw(data, connection)
            self.assertTrue(got.startswith(b"HTTP/1.1 %d " % status), (data[:120], got[:80]))
            self.assertEqual(got.count(b"HTTP/1.1"), 1, data[:120])
        self.assertEqual(self.status(b"\r\n" + get + b"\r\n"), 200)

    def test_several_requests_of_a_connection_are_answered_in_order(self):
        self.serve("--listen", "127.0.0.1:0")
        connection = self.connect()
        connection.sendall((self.head() + b"\r\n") * 3 + self.head(path="/nothing") + b"Connection: close\r\n\r\n")
        got = b""
        while more := connection.recv(65536):
            got += more
        self.assertEqual(re.findall(rb"HTTP/1.1 (\d+)", got), [b"200", b"200", b"200", b"401"])

    def test_a_body_may_come_in_chunks_and_after_a_hundred(self):
        self.serve("--listen", "127.0.0.1:0")
        whole = self.request("tools/list")
        head, _, body = whole.partition(b"\r\n\r\n")
        head = b"\r\n".join(line for line in head.split(b"\r\n") if not line.startswith(b"Content-Length"))
        chunks = b"".join(b"%x\r\n%s\r\n" % (len(body[i:i + 7]), body[i:i + 7]) for i in range(0, len(body), 7))
        got = self.raw(head + b"\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks + b"0\r\n\r\n")
        self.assertTrue(got.startswith(b"HTTP/1.1 200"), got[:100])
        connection = self.connect()
        connection.sendall(whole.partition(b"\r\n\r\n")[0] + b"\r\nExpect: 100-continue\r\n\r\n")
        self.assertTrue(connection.recv(1000).startswith(b"HTTP/1.1 100"))
        self.assertTrue(self.raw(body, connection).startswith(b"HTTP/1.1 200"))

    def test_wrong_messages(self):
        self.serve("--listen", "127.0.0.1:0")
        token = self.tokens["all"]

        def post(body, **headers):
            headers.setdefault("Content_Type", "application/json")
            return self.status(self.head("POST", "/mcp", token=token, Content_Length=len(body), **headers) + b"\r\n" + body)
        self.assertEqual(post(b"{"), 400)
        self.assertEqual(post(b"[]"), 400)
        self.assertEqual(post(b"{}", Content_Type="text/plain"), 415)
        self.assertEqual(post(b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}'), 400)
        self.assertEqual(post(b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}', Mcp_Session_Id="x"), 404)
        self.assertEqual(post(b'{"jsonrpc":"2.0","method":"notifications/x"}', MCP_Protocol_Version=MODERN), 202)
        for method in ("PUT", "PATCH", "HEAD"):
            self.assertEqual(self.status(self.head(method, "/mcp", token=token) + b"\r\n"), 405)
        self.assertEqual(self.status(self.head("GET", "/mcp", token=token) + b"\r\n"), 405)
        self.assertEqual(self.status(self.request("tools/list").replace(b"Mcp-Method: tools/list", b"Mcp-Method: x")), 400)

    # Clients that leave, and the end

    def big_repo(self):
        return {f"d{i % 20}/f{i}.txt": f"this is line {i} of many\n" * 1500 for i in range(500)}

    def test_a_client_that_leaves_cancels_its_map_and_others_go_on(self):
        self.commit(self.repo, self.big_repo())
        self.serve("--listen", "127.0.0.1:0")
        connection = self.connect()
        connection.sendall(self.request("tools/call", {"name": "map", "arguments": {"repo_path": self.repo}}))
        deadline = time.monotonic() + harness.TIMEOUT_SECONDS
        while b"vcm_requests_under_way 1" not in self.raw(self.head(path="/metrics", token=self.tokens["all"]) + b"\r\n"):
            self.assertLess(time.monotonic(), deadline)
        connection.close()
        while b"vcm_requests_under_way 0" not in self.raw(self.head(path="/metrics", token=self.tokens["all"]) + b"\r\n"):
            self.assertLess(time.monotonic(), deadline)
        scopes = self.answer("tools/call", {"name": "scopes", "arguments": {}})["result"]["structuredContent"]
        self.assertEqual(scopes["scopes"], [])

    def test_two_hundred_clients_at_once(self):
        self.serve("--listen", "127.0.0.1:0")
        self.answer("tools/call", {"name": "map", "arguments": {"repo_path": self.repo}})
        connections = [self.connect() for _ in range(200)]
        request = self.request("tools/call", {"name": "scopes", "arguments": {}})
        answered = busy = 0
        for connection in connections:
            connection.sendall(request)
        for connection in connections:
            got = self.raw(b"", connection)
            answered += got.startswith(b"HTTP/1.1 200")
            busy += got.startswith(b"HTTP/1.1 503") and b"Retry-After" in got
        self.assertEqual(answered + busy, 200)
        self.assertGreater(answered, 0)

    def test_a_signal_lets_a_call_end_first(self):
        self.commit(self.repo, self.big_repo())
        self.serve("--listen", "127.0.0.1:0")
        connection = self.connect()
        connection.sendall(self.request("tools/call", {"name": "scopes", "arguments": {}}))
        self.run.send_signal(signal.SIGTERM)
        self.assertEqual(self.run.wait(timeout=harness.TIMEOUT_SECONDS), 0)
        got = self.raw(b"", connection)
        self.assertTrue(got == b"" or got.startswith(b"HTTP/1.1 200"), got[:100])

    # Real clients

    def test_both_libraries_by_http(self):
        self.serve("--listen", "127.0.0.1:0", "--output-schemas")
        calls = [{"name": "map", "arguments": {"repo_path": self.repo}}, {"name": "find", "arguments": {"path": "a.c"}},
                 {"name": "symbols", "arguments": {"nonsense": 1}}]
        spec = {"url": self.ready["url"] + "/mcp", "token": self.tokens["all"], "calls": calls}
        for era, seen in json.loads(node.run(self, node.script("clients.mjs"), json.dumps(spec)).stdout).items():
            self.assertEqual([call.get("isError") for call in seen["calls"]], [False, False, True], (era, seen["calls"]))
            self.assertEqual(len(seen["scopes"]["scopes"]), 1)


if __name__ == "__main__":
    harness.main()
