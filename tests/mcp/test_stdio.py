"""vcm mcp over standard input and output: both eras, wrong messages, cancellation, clients that go."""

import json
import os
import signal
import time

import harness
from mcp_client import LEGACY, META, MODERN, Server, modern_meta

FILES = {"a.c": "int add(int a, int b)\n{\n    return a + b;\n}\n", "b.md": "# Title\n\nText.\n"}


class Stdio(harness.VcmTest):
    def setUp(self):
        super().setUp()
        self.repo = self.make_repo(FILES)

    def server(self, *args, **options):
        options.setdefault("cwd", self.repo)
        return Server(self, *args, **options)

    def big_repo(self):
        """One whose mapping takes long enough to be seen at it."""
        return self.make_repo({f"d{i % 20}/f{i}.txt": f"this is line {i} of many\n" * 1500 for i in range(500)},
                              name="big")

    # Eras

    def test_every_legacy_version_is_spoken_and_others_get_the_newest(self):
        for asked, given in [(LEGACY, LEGACY), ("2025-06-18", "2025-06-18"), ("2025-03-26", "2025-03-26"),
                             ("2024-11-05", "2024-11-05"), ("1999-01-01", LEGACY), (MODERN, LEGACY)]:
            server = self.server()
            result = server.initialize(asked)
            self.assertEqual(result["protocolVersion"], given)
            self.assertEqual(result["serverInfo"]["name"], "vcm")
            self.assertLessEqual(len(result["instructions"].encode()), 1536)
            self.assertNotIn("resultType", result)
            self.assertEqual(server.end(), 0)

    def test_modern_requests_need_no_handshake(self):
        server = self.server()
        tools = server.ask("tools/list", modern=True)["result"]
        self.assertEqual(tools["resultType"], "complete")
        self.assertGreaterEqual(tools["ttlMs"], 0)
        self.assertIn(tools["cacheScope"], ("public", "private"))
        discovered = server.ask("server/discover", modern=True)["result"]
        self.assertEqual(discovered["supportedVersions"], [MODERN])
        self.assertEqual(discovered["_meta"][META + "serverInfo"]["name"], "vcm")
        self.assertLessEqual(len(discovered["instructions"].encode()), 1536)
        self.assertEqual(server.document("map", modern=True)["status"], "mapped")
        self.assertEqual(server.end(), 0)

    def test_the_era_is_chosen_by_each_message(self):
        server = self.server()
        server.initialize()
        self.assertIn("resultType", server.ask("tools/list", modern=True)["result"])
        self.assertNotIn("resultType", server.ask("tools/list")["result"])
        for method in ("initialize", "ping", "logging/setLevel", "resources/subscribe"):
            self.assertEqual(server.ask(method, modern=True)["error"]["code"], -32601, method)
        self.assertEqual(server.ask("server/discover")["error"]["code"], -32601)
        self.assertEqual(server.ask("ping")["result"], {})

    def test_a_modern_request_says_what_it_has_to(self):
        server = self.server()
        version, capabilities = META + "protocolVersion", META + "clientCapabilities"
        server.send("server/discover", {"_meta": {version: MODERN}}, 1)
        self.assertEqual(server.receive()["error"]["code"], -32602)
        server.send("server/discover", {"_meta": {version: 7, capabilities: {}}}, 2)
        self.assertEqual(server.receive()["error"]["code"], -32602)
        server.send("server/discover", {"_meta": {version: "v999", capabilities: {}}}, 3)
        error = server.receive()["error"]
        self.assertEqual((error["code"], error["data"]["requested"]), (-32022, "v999"))
        self.assertIn(MODERN, error["data"]["supported"])

    # Start-up

    def test_nothing_touches_the_home_before_the_first_call_of_a_tool(self):
        server = self.server()
        server.initialize()
        server.ask("tools/list")
        server.ask("server/discover", modern=True)
        server.ask("resources/templates/list")
        self.assertFalse(os.path.exists(self.home))
        self.assertEqual(len(os.listdir(f"/proc/{server.run.pid}/task")), 1, "a thread was started")
        server.document("map")
        self.assertTrue(os.path.exists(self.home))

    def test_a_missing_home_is_an_empty_store_and_a_bad_one_an_answer(self):
        server = self.server()
        self.assertEqual(server.document("scopes")["scopes"], [])
        self.assertFalse(os.path.exists(self.home))
        self.write(self.tmp, {"file": "x"})
        other = self.server("--home", os.path.join(self.tmp, "file"))
        self.assertIn(other.failure("map")["code"], ("IO_ERROR", "INVALID_ARGUMENT", "UNSUPPORTED"))
        self.assertEqual(other.ask("ping")["result"], {})

    # Wrong messages

    def test_wrong_messages_are_answered_and_the_server_lives(self):
        server = self.server()
        deep = "[" * 5000 + "]" * 5000
        for line, code, id in [
                (b"{", -32700, None), (b"\xff\xfe{}", -32700, None), (b'{"jsonrpc":"2.0"', -32700, None),
                (b"[]", -32600, None), (b"7", -32600, None), (b'"x"', -32600, None), (b"null", -32600, None),
                (b'{"jsonrpc":"2.0","id":1}', -32600, 1),
                (b'{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600, 1),
                (b'{"id":1,"method":"ping"}', -32600, 1),
                (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600, None),
                (b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', -32600, None),
                (b'{"jsonrpc":"2.0","id":{},"method":"ping"}', -32600, None),
                (b'{"jsonrpc":"2.0","id":true,"method":"ping"}', -32600, None),
                (b'{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}', -32700, None),
                (b'{"jsonrpc":"2.0","id":"a","method":7}', -32600, "a"),
                (b'{"jsonrpc":"2.0","id":"a","method":""}', -32600, "a"),
                (b'{"jsonrpc":"2.0","id":"a","method":"ping","params":[]}', -32600, "a"),
                (b'{"jsonrpc":"2.0","id":"a","method":"no/such"}', -32601, "a"),
                (b'{"jsonrpc":"2.0","id":"a","method":"tools/call"}', -32602, "a"),
                (b'{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":7}}', -32602, "a"),
                (b'{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"nothing"}}', -32602, "a"),
                (b'{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"init"}}', -32602, "a"),
                (b'{"jsonrpc":"2.0","id":"a","method":"x","params":{"y":' + deep.encode() + b"}}", -32700, None),
                (b'{"jsonrpc":"2.0","id":"' + b"x" * 300 + b'","method":"ping"}', -32600, None)]:
            server.send_bytes(line + b"\n")
            answer = server.receive()
            self.assertEqual((answer["error"]["code"], answer.get("id")), (code, id), line[:80])
        server.send_bytes(b"\n\r\n" + b'{"method":"ping","id":13000000000000,"jsonrpc":"2.0"}\r\n')
        self.assertEqual(server.receive(), {"jsonrpc": "2.0", "id": 13000000000000, "result": {}})
        self.assertEqual(server.end(), 0)

    def test_a_message_of_more_than_ten_mebibytes_is_refused_and_the_next_one_served(self):
        server = self.server()
        server.send_bytes(b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"' + b"y" * (11 << 20) + b'"}}\n')
        self.assertEqual(server.receive()["error"]["code"], -32600)
        server.send_bytes(b'{"jsonrpc":"2.0","id":2,"method":"ping","params":{"x":"' + b"y" * (9 << 20) + b'"}}\n')
        self.assertEqual(server.receive()["id"], 2)
        # Millions of values in a message within the limit: refused, not run out of memory.
        server.send_bytes(b'{"jsonrpc":"2.0","id":3,"method":"ping","params":{"x":[' + b"1," * (4 << 20) + b"1]}}\n")
        self.assertEqual(server.receive()["error"]["code"], -32700)
        self.assertEqual(server.ask("ping")["result"], {})

    def test_a_message_may_arrive_byte_by_byte_and_the_last_one_without_its_end(self):
        server = self.server()
        for byte in b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n':
            server.send_bytes(bytes([byte]))
        self.assertEqual(server.receive()["id"], 1)
        server.send_bytes(b'{"jsonrpc":"2.0","id":2,"method":"ping"}')
        self.assertEqual(server.end(), 0)
        self.assertEqual(server.receive()["id"], 2)

    # Work

    def test_a_long_map_holds_up_neither_a_read_nor_the_list_of_tools(self):
        big = self.big_repo()
        server = self.server("--root", big)
        server.initialize()
        server.send("tools/call", {"name": "map", "arguments": {"repo_path": big},
                                   "_meta": {"progressToken": "p"}}, "long")
        server.wait_for(lambda m: m.get("method") == "notifications/progress")
        server.ask("tools/list")
        server.document("scopes")
        self.assertFalse([m for m in server.seen if m.get("id") == "long"], "the map had ended by then")
        answer = server.wait_for(lambda m: m.get("id") == "long")
        self.assertEqual(answer["result"]["structuredContent"]["status"], "mapped")
        values = [m["params"] for m in server.seen if m.get("method") == "notifications/progress"]
        self.assertTrue(all(v["progressToken"] == "p" for v in values))
        numbers = [v["progress"] for v in values]
        self.assertEqual(numbers, sorted(set(numbers)))

    def test_a_cancelled_map_leaves_the_store_as_it_was_and_gets_no_answer(self):
        big = self.big_repo()
        server = self.server("--root", big)
        server.initialize()
        server.document("map")
        before = server.document("stat")
        server.send("tools/call", {"name": "map", "arguments": {"repo_path": big},
                                   "_meta": {"progressToken": 7}}, "long")
        server.wait_for(lambda m: m.get("method") == "notifications/progress")
        server.send("notifications/cancelled", {"requestId": "long", "reason": "test"})
        deadline = time.monotonic() + harness.TIMEOUT_SECONDS
        while time.monotonic() < deadline:  # the handle is free again when another map goes through
            if server.document("map")["status"] == "already_mapped":
                break
        after = server.document("stat")
        self.assertEqual(before["scopes"], after["scopes"])
        self.assertEqual(before["pages"], after["pages"])
        self.assertEqual(server.end(), 0)
        self.assertFalse([m for m in server.seen if m.get("id") == "long"])
        self.vcm("verify", check=0)

    def test_cancelling_what_is_not_there_does_nothing(self):
        server = self.server()
        server.send("notifications/cancelled", {"requestId": 99})
        server.send("notifications/cancelled", {"requestId": None})
        server.send("notifications/cancelled")
        server.send("notifications/nonsense", {"x": 1})
        self.assertEqual(server.ask("ping")["result"], {})

    def test_a_client_that_goes_in_the_middle_of_a_map_ends_the_server(self):
        big = self.big_repo()
        server = self.server("--root", big)
        server.send("tools/call", {"name": "map", "arguments": {"repo_path": big},
                                   "_meta": modern_meta(progressToken=1)}, 1)
        server.wait_for(lambda m: m.get("method") == "notifications/progress")
        self.assertEqual(server.end(), 0)
        self.vcm("verify", check=0)

    def test_signals_end_the_server(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            server = self.server()
            server.ask("ping")
            server.run.send_signal(number)
            self.assertEqual(server.run.wait(timeout=harness.TIMEOUT_SECONDS), 0)

    def test_many_requests_at_once_are_all_answered(self):
        server = self.server()
        scope = server.document("map")["sources"][0]["scope_id"]
        page = server.document("pages", scope=scope)["pages"][0]["page_id"]
        for i in range(500):
            server.send("tools/call", {"name": "page", "arguments": {"page": page}}, f"r{i}")
        got = {server.receive()["id"] for _ in range(500)}
        self.assertEqual(got, {f"r{i}" for i in range(500)})

    # Resources

    def test_resources_are_listed_read_and_completed(self):
        server = self.server()
        server.initialize()
        self.assertEqual([r["uri"] for r in server.ask("resources/list")["result"]["resources"]], ["vcm://scopes"])
        scope = server.document("map")["sources"][0]["scope_id"]
        page = server.document("pages", scope=scope)["pages"][0]["page_id"]
        uris = [r["uri"] for r in server.ask("resources/list")["result"]["resources"]]
        self.assertEqual(uris, ["vcm://scopes", f"vcm://scope/{scope}"])
        templates = server.ask("resources/templates/list")["result"]["resourceTemplates"]
        self.assertEqual([t["uriTemplate"] for t in templates],
                         ["vcm://scope/{scope_id}", "vcm://page/{page_id}", "vcm://kb/{chunk_id}"])
        text = server.ask("resources/read", {"uri": f"vcm://page/{page}"})["result"]["contents"][0]
        self.assertEqual(text["mimeType"], "text/plain")
        self.assertIn("int add(int a, int b)", text["text"])
        self.assertEqual(text["text"], self.vcm("page", page, check=0).out)
        contents = server.ask("resources/read", {"uri": f"vcm://scope/{scope}"})["result"]["contents"][0]
        self.assertEqual(json.loads(contents["text"])["pages"][0]["page_id"], page)
        modern = server.ask("resources/read", {"uri": f"vcm://page/{page}"}, modern=True)["result"]
        self.assertGreater(modern["ttlMs"], 0)
        for uri, template, name, value, full in [
                ("scope", "vcm://scope/{scope_id}", "scope_id", scope[:3], scope),
                ("page", "vcm://page/{page_id}", "page_id", page[:8], page)]:
            answer = server.ask("completion/complete", {
                "ref": {"type": "ref/resource", "uri": template}, "argument": {"name": name, "value": value}})
            self.assertEqual(answer["result"]["completion"], {"values": [full], "total": 1, "hasMore": False}, uri)

    def test_a_resource_that_is_not_there_is_an_error(self):
        server = self.server()
        for uri in ("vcm://page/00000000", "vcm://scope/nothing", "vcm://nonsense", "file:///etc/passwd",
                    "vcm://page/%zz", "vcm://page/", ""):
            self.assertEqual(server.ask("resources/read", {"uri": uri})["error"]["code"], -32002, uri)
            error = server.ask("resources/read", {"uri": uri}, modern=True)["error"]
            self.assertEqual((error["code"], error["data"]["uri"]), (-32602, uri))

    def test_subscribers_learn_that_a_scope_was_mapped_anew_in_both_eras(self):
        server = self.server()
        server.initialize()
        scope = server.document("map")["sources"][0]["scope_id"]
        uri = f"vcm://scope/{scope}"
        self.assertEqual(server.ask("resources/subscribe", {"uri": uri})["result"], {})
        server.send("subscriptions/listen", {"_meta": modern_meta(), "notifications": {
            "resourceSubscriptions": ["vcm://scopes"], "resourcesListChanged": True, "toolsListChanged": True}},
            "sub")
        first = server.wait_for(lambda m: META + "subscriptionId" in m.get("params", {}).get("_meta", {}))
        self.assertEqual(first["method"], "notifications/subscriptions/acknowledged")
        self.assertEqual(first["params"]["notifications"],
                         {"resourcesListChanged": True, "resourceSubscriptions": ["vcm://scopes"]})
        time.sleep(1.2)  # a first look at the scopes
        self.commit(self.repo, {"c.c": "int c;\n"})
        self.vcm("map", self.repo, check=0)  # by another process
        updated = server.wait_for(lambda m: m.get("method") == "notifications/resources/updated"
                                  and m["params"]["uri"] == uri)
        self.assertNotIn("_meta", updated["params"])
        modern = server.wait_for(lambda m: m.get("method") == "notifications/resources/updated"
                                 and m["params"]["uri"] == "vcm://scopes")
        self.assertEqual(modern["params"]["_meta"][META + "subscriptionId"], "sub")
        self.vcm("unmap", scope, check=0)
        server.wait_for(lambda m: m.get("method") == "notifications/resources/list_changed"
                        and m["params"].get("_meta", {}).get(META + "subscriptionId") == "sub")
        server.send("notifications/cancelled", {"requestId": "sub"})
        self.assertEqual(server.ask("resources/unsubscribe", {"uri": uri})["result"], {})
        self.assertEqual(server.end(), 0)


if __name__ == "__main__":
    harness.main()
