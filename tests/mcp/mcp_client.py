"""A client of MCP that says exactly what a test wants it to say, right or wrong, in either era.

Real clients are in test_clients.py; this one is for what they would never send.
"""

import json
import os
import queue
import select
import subprocess
import threading

import harness

META = "io.modelcontextprotocol/"
MODERN = "2026-07-28"
LEGACY = "2025-11-25"


def modern_meta(**more):
    return {META + "protocolVersion": MODERN, META + "clientCapabilities": {}, **more}


class Server:
    """`vcm mcp` with its ends of both pipes."""

    def __init__(self, test, *args, cwd=None, env=None):
        self.test = test
        self.run = test.start("mcp", *args, cwd=cwd, env=env)
        self.seen = []
        self._next = 0
        self._lines = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.run.stdout:
            self._lines.put(line)
        self._lines.put(None)

    def send_bytes(self, data):
        self.run.stdin.write(data)
        self.run.stdin.flush()

    def send(self, method, params=None, id=None):
        message = {"jsonrpc": "2.0", "method": method}
        if id is not None:
            message["id"] = id
        if params is not None:
            message["params"] = params
        self.send_bytes(json.dumps(message).encode() + b"\n")

    def receive(self, timeout=harness.TIMEOUT_SECONDS):
        """The next message of the server, or None when it has ended."""
        line = self._lines.get(timeout=timeout)
        if line is None:
            return None
        message = json.loads(line)
        self.test.assertEqual(message["jsonrpc"], "2.0")
        return message

    def wait_for(self, wanted):
        """The message for which `wanted` is true; others are kept in self.seen."""
        for i, message in enumerate(self.seen):
            if wanted(message):
                return self.seen.pop(i)
        while True:
            message = self.receive()
            if message is None:
                self.test.fail(f"the server ended: {self.run.stderr.read().decode()}")
            if wanted(message):
                return message
            self.seen.append(message)

    def ask(self, method, params=None, modern=False):
        """Sends a request and returns its whole answer."""
        self._next += 1
        id = self._next
        if modern:
            params = {**(params or {}), "_meta": {**modern_meta(), **(params or {}).get("_meta", {})}}
        self.send(method, params, id)
        return self.wait_for(lambda m: m.get("id") == id and "method" not in m)

    def initialize(self, version=LEGACY):
        answer = self.ask("initialize", {"protocolVersion": version, "capabilities": {},
                                         "clientInfo": {"name": "test", "version": "1"}})
        self.send("notifications/initialized")
        return answer["result"]

    def call(self, tool, modern=False, **arguments):
        """The result of a tool."""
        answer = self.ask("tools/call", {"name": tool, "arguments": arguments}, modern)
        self.test.assertIn("result", answer)
        result = answer["result"]
        self.test.assertEqual(json.loads(result["content"][0]["text"]), result["structuredContent"])
        return result

    def document(self, tool, modern=False, **arguments):
        """The document of a tool that must succeed."""
        result = self.call(tool, modern, **arguments)
        if result["isError"]:
            self.test.fail(f"{tool}: {result['structuredContent']}")
        return result["structuredContent"]

    def failure(self, tool, **arguments):
        """The error object of a tool that must fail."""
        result = self.call(tool, **arguments)
        self.test.assertTrue(result["isError"], result)
        self.test.assertEqual(sorted(result["structuredContent"]["error"]),
                              ["code", "details", "message", "retryable"])
        return result["structuredContent"]["error"]

    def end(self):
        """Closes the input; returns the exit status. Nothing but messages was on its output."""
        self.run.stdin.close()
        status = self.run.wait(timeout=harness.TIMEOUT_SECONDS)
        err = self.run.stderr.read().decode()
        self.test.assert_no_crash(harness.Result(["mcp"], status, b"", err.encode()))
        return status
