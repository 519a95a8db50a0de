"""The settings of a home, and what depends on them."""

import os

import harness
from paging import PagingTest

KEYS = ["cache.capacity", "cache.compressed_capacity", "cache.policy", "fetch.max_bytes",
        "fetch.max_memory", "mmap.flush_threshold", "mmap.flush_token_budget", "mmap.pinned", "tokenizer", "walk.max_entries"]


class ConfigTest(harness.VcmTest):
    def config(self):
        with open(os.path.join(self.home, "config.yaml"), "rb") as file:
            return file.read().decode()

    def write_config(self, text):
        os.makedirs(self.home, exist_ok=True)
        with open(os.path.join(self.home, "config.yaml"), "wb") as file:
            file.write(text if isinstance(text, bytes) else text.encode())

    def set(self, key, value, check=0):
        return self.vcm("config", "set", key, value, "--json", check=check).json()

    def get(self, key):
        return self.vcm("config", "get", key, "--json", check=0).json()

    def list(self):
        return self.vcm("config", "list", "--json", check=0).json()["config"]


class Values(ConfigTest):
    def test_the_list_has_every_key_with_its_default(self):
        entries = self.list()
        self.assertEqual([entry["key"] for entry in entries], KEYS)
        self.assertFalse(any(entry["is_set"] for entry in entries))
        self.assertTrue(all(entry["value"] == entry["default"] for entry in entries))
        values = {entry["key"]: entry["value"] for entry in entries}
        self.assertEqual((values["cache.capacity"], values["cache.policy"],
                          values["mmap.flush_threshold"], values["mmap.flush_token_budget"],
                          values["mmap.pinned"]), (1 << 30, "s3fifo", 20, 4096, False))
        plain = self.vcm("config", "list", check=0).out
        for key in KEYS:
            self.assertIn(key, plain)

    def test_what_is_set_counts_from_then_on(self):
        for key, given, value in (("cache.capacity", "64MiB", 64 << 20),
                                  ("cache.compressed_capacity", "1GiB", 1 << 30),
                                  ("cache.capacity", "512KiB", 512 << 10),
                                  ("cache.capacity", "123456", 123456),
                                  ("cache.policy", "s3fifo", "s3fifo"),
                                  ("mmap.flush_threshold", "7", 7), ("mmap.pinned", "true", True),
                                  ("tokenizer", "approx4", "approx4")):
            expected = {"key": key, "value": value, "is_set": True}
            answer = self.set(key, given)
            self.assertEqual({name: answer[name] for name in expected}, expected)
            self.assertEqual(self.get(key), answer)
        self.assertEqual([entry["key"] for entry in self.list()], KEYS)
        self.assertEqual(self.vcm("config", "get", "cache.policy", check=0).out, "s3fifo\n")
        self.assertEqual(self.vcm("config", "get", "mmap.pinned", check=0).out, "true\n")
        self.assertEqual(self.vcm("stat", "--json", check=0).json()["policy"], "s3fifo")

    def test_values_are_checked_and_nothing_is_written(self):
        for key, value in (("cache.capacity", "big"), ("cache.capacity", "-1"),
                           ("cache.capacity", "1TB"), ("cache.capacity", "1 MiB"),
                           ("cache.capacity", "99999999999999999999"), ("cache.capacity", "8EiB"),
                           ("cache.capacity", "17179869184GiB"), ("cache.policy", "best"),
                           ("mmap.flush_threshold", "0"), ("mmap.flush_threshold", "1.5"),
                           ("mmap.flush_token_budget", "63"), ("mmap.pinned", "yes"),
                           ("tokenizer", "gpt2"), ("cache.policy", "lru\nx: y"),
                           ("nonsense", "1"), ("cache", "1"), ("credentials.", "TOKEN"),
                           ("credentials.example.com", "ghp_secretsecret"),
                           ("cache.policy", ""), ("", "x")):
            error = self.set(key, value, check=2)["error"]
            self.assertEqual(error["code"], "INVALID_ARGUMENT", (key, value))
        self.assertFalse(os.path.exists(self.home))

    def test_a_secret_is_not_repeated(self):
        secret = "ghp_0123456789abcdef"
        for form in ([], ["--json"]):
            result = self.vcm("config", "set", "credentials.github.com", secret, *form, check=2)
            self.assertNotIn(secret, result.out + result.err)

    def test_credentials_are_names(self):
        for host, name in (("github.com", "GITHUB_TOKEN"), ("*.example.com", "/etc/token"),
                           ("git.internal:8443", "~/.token file")):
            self.set(f"credentials.{host}", name)
            self.assertEqual(self.get(f"credentials.{host}")["value"], name)
        self.assertIsNone(self.get("credentials.github.com")["default"])
        keys = [entry["key"] for entry in self.list()]
        self.assertEqual(keys, sorted(keys))
        self.assertEqual(len(keys), len(KEYS) + 3)
        result = self.vcm("config", "get", "credentials.nowhere.com", "--json", check=1)
        self.assertEqual(result.json()["error"]["code"], "NOT_FOUND")


class File(ConfigTest):
    def test_comments_order_and_layout_stay(self):
        self.write_config("# my settings\n\ncache.policy: lru  # old habit\n"
                          "tokenizer: approx4\n# the end, without a newline")
        self.set("mmap.flush_threshold", "5")
        self.assertEqual(self.config(), "# my settings\n\ncache.policy: lru  # old habit\n"
                                        "tokenizer: approx4\n# the end, without a newline\n"
                                        "mmap.flush_threshold: 5\n")
        self.set("tokenizer", "approx4")
        self.set("mmap.flush_threshold", "6")
        self.assertEqual(self.config().splitlines()[3:],
                         ["tokenizer: approx4", "# the end, without a newline",
                          "mmap.flush_threshold: 6"])
        self.set("cache.policy", "lfu")
        self.assertEqual(self.config().splitlines()[:4],
                         ["# my settings", "", "cache.policy: lfu  # old habit",
                          "tokenizer: approx4"])

    def test_a_hash_inside_a_value_is_no_comment(self):
        self.write_config('credentials.a.com: "/x #1"\t# one\ncredentials.b.com: /y#2\n')
        self.set("credentials.a.com", "/z #3")
        self.set("credentials.b.com", "/w")
        self.assertEqual(self.config(),
                         'credentials.a.com: "/z #3"\t# one\ncredentials.b.com: /w\n')

    def test_a_layout_that_cannot_be_edited_is_left_alone(self):
        for text in ("{cache.policy: lru, tokenizer: approx4}\n",
                     "cache.policy:\n  lru\ntokenizer: approx4\n"):
            self.write_config(text)
            self.assertEqual(self.get("cache.policy")["value"], "lru")
            result = self.vcm("config", "set", "cache.policy", "lfu", "--json")
            if result.status:
                self.assertEqual(result.json()["error"]["code"], "UNSUPPORTED")
                self.assertEqual(self.config(), text)
            else:
                self.assertEqual(self.get("cache.policy")["value"], "lfu")
                self.assertEqual(self.get("tokenizer")["value"], "approx4")

    def test_crlf_a_mark_and_an_empty_file_are_fine(self):
        for text in (b"\xef\xbb\xbftokenizer: approx4\r\ncache.policy: lru\r\n", b"", b"# nothing\n",
                     b"---\ncache.policy: lru\n"):
            self.write_config(text)
            self.set("mmap.flush_threshold", "3")
            self.assertEqual(self.get("mmap.flush_threshold")["value"], 3, text)
            if b"lru" in text:
                self.assertEqual(self.get("cache.policy")["value"], "lru")

    def test_a_broken_file_is_reported_with_its_place_by_every_command_that_needs_it(self):
        repo = self.make_repo({"a": "a\n"})
        broken = {
            "cache.policy: lru\n  bad: [\n": "2:", "cache.policy: best\n": "1:1",
            "tokenizer: approx4\nnonsense: 1\n": "2:1", "\n\n- list\n": "3:1",
            "cache.policy: lru\ncache.policy: lfu\n": "2:1", "mmap.pinned: maybe\n": "1:1",
            "cache.policy: [lru]\n": "1:1", "a: b\0\n": "1:", "cache.policy: &a lru\n": "1:",
            "cache.policy: \xff\n".encode("latin-1"): "1:", "x" * 70000: "",
        }
        path = os.path.join(self.home, "config.yaml")
        for text, place in broken.items():
            self.write_config(text)
            result = self.vcm("stat", "--json")
            error = result.json()["error"]
            self.assertEqual(result.status, 2 if place else 1 if error["code"] != "INVALID_ARGUMENT"
                             else 2, result)
            self.assertIn(f"{path}:{place}" if place else path, error["message"], result)
        self.write_config("tokenizer: approx4\nnonsense: 1\n")
        for words in (["map", repo], ["stat"], ["config", "list"], ["config", "get", "tokenizer"],
                      ["config", "set", "cache.policy", "lru"]):
            error = self.vcm(*words, check=2).err
            self.assertIn(f"{path}:2:1: unknown key 'nonsense'", error, words)
        self.assertEqual(self.config(), "tokenizer: approx4\nnonsense: 1\n")
        for words in (["scopes"], ["pages"], ["completion", "bash"]):
            self.vcm(*words, check=0)


class AtOnce(ConfigTest):
    ROUNDS = 12

    def set_at_once(self, settings):
        runs = [(key, self.start("config", "set", key, value)) for key, value in settings.items()]
        for key, run in runs:
            _, err = run.communicate(timeout=harness.TIMEOUT_SECONDS)
            self.assertEqual(run.returncode, 0, f"{key}: {err.decode()}")

    def test_none_of_those_who_set_at_once_is_lost(self):
        for i in range(self.ROUNDS):
            settings = {"cache.capacity": str(1000000 + i), "cache.policy": ("lru", "lfu")[i % 2],
                        "mmap.flush_threshold": str(i + 1), "credentials.a.com": f"A{i}",
                        "credentials.b.com": f"B{i}"}
            self.set_at_once(settings)
            values = {entry["key"]: str(entry["value"]) for entry in self.list()}
            self.assertEqual({key: values[key] for key in settings}, settings)
            if i % 4 == 3:  # all lines are new again
                os.unlink(os.path.join(self.home, "config.yaml"))

    def test_comments_outlast_those_who_set_at_once(self):
        self.write_config("# mine\ncache.policy: lru # why\n")
        self.set_at_once({"cache.policy": "lfu", "mmap.pinned": "true", "mmap.flush_threshold": "3",
                          "credentials.a.com": "A"})
        lines = self.config().splitlines()
        self.assertEqual(lines[:2], ["# mine", "cache.policy: lfu # why"])
        self.assertEqual(sorted(lines[2:]), ["credentials.a.com: A", "mmap.flush_threshold: 3",
                                             "mmap.pinned: true"])


class Consequences(PagingTest):
    def snapshot(self):
        ids, stat = self.page_ids(), self.stat()
        return ids, stat["pages"], stat["tokens"], stat["bytes"]["resident"]

    def test_the_tokenizer_cannot_change_while_a_scope_is_mapped(self):
        self.map_row(self.make_repo({"a": "a\n"}))
        self.vcm("config", "set", "tokenizer", "approx4", check=0)
        other = "o200k_base"
        with open(os.path.join(self.home, "config.yaml"), encoding="utf-8") as file:
            before = file.read()
        result = self.vcm("config", "set", "tokenizer", other, "--json", check=2)
        self.assertEqual(result.json()["error"]["code"], "INVALID_ARGUMENT")
        with open(os.path.join(self.home, "config.yaml"), encoding="utf-8") as file:
            self.assertEqual(file.read(), before)

    def test_what_is_pinned_beyond_the_capacity_fails_the_row_and_leaves_the_store(self):
        small = self.make_repo({"a": "a" * 1000 + "\n"}, name="small")
        large = self.make_repo({f"f{i}": f"{i}\n" * 4000 for i in range(20)}, name="large")
        self.vcm("config", "set", "cache.capacity", "8KiB", check=0)
        self.map_row(small)
        before = self.snapshot()
        document = self.map(large, "--pinned", check=1)
        [row] = document["sources"]
        self.assertEqual((document["status"], row["status"], row["code"]),
                         ("error", "error", "STORE_FULL"))
        self.assertIn("cache.capacity", row["message"])
        self.assertEqual((row["pages"], row["pages_created"]), (0, 0))
        self.assertEqual(self.snapshot(), before)
        self.assertEqual(self.vcm("scopes", "--json", check=0).json()["scopes"][0]["repo_root"], small)
        plain = self.vcm("map", large, "--pinned", check=1)
        self.assertIn("cache.capacity", plain.out + plain.err)
        self.vcm("config", "set", "cache.capacity", "1MiB", check=0)
        self.check_mapping(large, self.map_row(large, "--pinned"))

    def test_what_is_not_pinned_goes_beyond_the_capacity(self):
        large = self.make_repo({f"f{i}": f"{i}\n" * 4000 for i in range(20)}, name="large")
        self.vcm("config", "set", "cache.capacity", "32KiB", check=0)
        self.check_mapping(large, self.map_row(large))
        stat = self.stat()
        self.assertLessEqual(stat["bytes"]["resident"], 32 << 10)
        self.assertGreater(stat["pages"]["resident"], 0)
        self.assertGreater(stat["pages"]["compressed"], 0)

    def test_a_smaller_capacity_evicts_before_it_returns(self):
        repo = self.make_repo({f"f{i}": f"line {i}\n" * 500 for i in range(20)})
        self.check_mapping(repo, self.map_row(repo))
        before = self.stat()
        self.vcm("config", "set", "cache.capacity", "20KiB", check=0)
        stat = self.stat()
        self.assertLessEqual(stat["bytes"]["resident"], 20 << 10)
        self.assertGreater(stat["pages"]["compressed"], 0)
        self.assertEqual(stat["pages"]["total"], before["pages"]["total"])
        self.assertEqual(stat["evictions"], stat["pages"]["compressed"])
        self.vcm("config", "set", "cache.compressed_capacity", "0", check=0)
        stat = self.stat()
        self.assertEqual((stat["pages"]["compressed"], stat["bytes"]["compressed"]), (0, 0))
        self.assertGreater(stat["pages"]["evicted"], 0)
        self.check_mapping(repo, self.map_row(repo))

    def test_a_capacity_below_what_is_pinned_is_refused(self):
        self.map_row(self.make_repo({"a": "a" * 5000 + "\n"}), "--pinned")
        result = self.vcm("config", "set", "cache.capacity", "4KiB", "--json", check=1)
        self.assertEqual(result.json()["error"]["code"], "STORE_FULL")
        self.assertEqual(self.stat()["bytes"]["capacity"], 1 << 30)

    def test_what_is_refused_for_want_of_room_leaves_every_page_as_it_was(self):
        """A row of several write batches: nobody may have gone for the first of them."""
        def text(name):
            return "".join(f"{name} {i} {'x' * 80}\n" for i in range(5000))

        def state():
            stat = self.stat()
            del stat["bytes"]["file"]
            return ([(page["page_id"], page["scope_id"], page["state"], page["pinned"])
                     for page in self.pages()], stat["pages"], stat["bytes"])

        other = self.make_repo({f"f{i}": text(i) for i in range(3)}, name="other")
        large = self.make_repo({f"f{i}": text(f"l{i}") for i in range(22)}, name="large")
        self.vcm("config", "set", "cache.capacity", "6MiB", check=0)
        scope = self.map_row(other)["scope_id"]
        before = state()
        self.assertEqual(self.map_row(large, "--pinned", check=1)["code"], "STORE_FULL")
        self.assertEqual(state(), before)
        self.vcm("config", "set", "cache.capacity", "1GiB", check=0)
        self.map_row(large, "--pinned")
        pinned = sum(page["bytes"] for page in self.pages("--pinned"))
        self.vcm("config", "set", "cache.capacity", str(pinned + (1 << 20)), check=0)
        self.commit(large, {f"g{i}": text(f"g{i}") for i in range(4)})
        before = state()
        self.assertEqual(self.map_row(large, "--pinned", check=1)["code"], "STORE_FULL")
        for words in (["pin", scope], ["config", "set", "cache.capacity", str(pinned - 1)]):
            self.assertEqual(self.vcm(*words, "--json", check=1).json()["error"]["code"],
                             "STORE_FULL", words)
        self.assertEqual(state(), before)
        self.commit(large, {}, remove=[f"f{i}" for i in range(4)])
        self.assertEqual(self.map_row(large, "--pinned")["status"], "remapped")
        self.vcm("verify", check=0)
