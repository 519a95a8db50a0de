"""Homes of other format versions: an older store is converted, a newer one is refused."""

import os
import subprocess

from paging import PagingTest


class FormatTest(PagingTest):
    def setUp(self):
        super().setUp()
        self.store = os.path.join(self.home, "store")
        self.repo = self.make_repo({"a": "a\n"})

    def make_store(self, *words):
        subprocess.run([os.environ["VCM_TEST_MAKE_STORE"], self.store, *words], check=True)

    def store_bytes(self):
        with open(os.path.join(self.store, "data.mdb"), "rb") as file:
            return file.read()


class Newer(FormatTest):
    def test_a_newer_format_is_refused_with_what_to_do_and_left_as_it_is(self):
        self.map_row(self.repo)
        [page] = self.page_ids()
        self.make_store("4")
        before = self.store_bytes()
        for words in (["scopes"], ["pages"], ["stat"], ["page", page], ["map", self.repo], ["gc"],
                      ["evict", "--all"], ["fault", page], ["lock", page, "--ttl", "1m"],
                      ["pin", page], ["unmap", "x"], ["top", "--count", "1"],
                      ["config", "set", "cache.capacity", "1MiB"]):
            result = self.vcm(*words, "--json", check=1)
            error = result.json()["error"]
            self.assertEqual(error["code"], "UNSUPPORTED", result)
            for part in ("format 4", "format 3", "vcm that wrote it", "--home"):
                self.assertIn(part, error["message"], result)
            plain = self.vcm(*words, check=1)
            self.assertEqual(len(plain.err.splitlines()), 1, plain)
        self.assertEqual(self.store_bytes(), before)
        self.assertFalse(os.path.exists(os.path.join(self.home, "store.damaged")))
        other = os.path.join(self.tmp, "other")
        self.make_home(other)
        self.assertEqual(self.map_row(self.repo, "--home", other)["status"], "mapped")
        self.make_store("3")
        self.assertEqual(self.page_ids(), [page])


class Former(FormatTest):
    """Format 2 is format 3 without headings."""

    def setUp(self):
        super().setUp()
        self.code = "int f(void)\n{\n" + "    call();\n" * 4000 + "}\n"
        self.commit(self.repo, {"long.c": self.code})
        self.map_row(self.repo)
        self.make_store("2")

    def test_it_is_read_as_it_is_where_nothing_may_be_written(self):
        before = self.store_bytes()
        for name in ("", "store"):
            os.chmod(os.path.join(self.home, name), 0o500)
        self.addCleanup(lambda: [os.chmod(os.path.join(self.home, name), 0o700)
                                 for name in ("", "store")])
        self.assertEqual("".join(record["text"] for page in self.page_ids()
                                 for record in self.page(page)["records"]
                                 if record["path"] == "long.c"), self.code)
        if os.getuid() != 0:
            self.assertEqual(self.store_bytes(), before)

    def test_it_opens_and_the_next_map_raises_the_number(self):
        ids = self.page_ids()
        self.vcm("pin", ids[0], "--json", check=0)
        first = self.vcm("map", self.repo, "--json", check=0)
        self.assertIn("to format 3", first.err)
        self.assertEqual(first.json()["status"], "already_mapped")
        self.assertEqual(self.page_ids(), ids)
        self.vcm("verify", check=0)


class Older(FormatTest):
    def setUp(self):
        super().setUp()
        os.mkdir(self.store, 0o700)
        self.make_store()

    def test_an_older_store_is_converted_by_the_first_command_and_that_is_told(self):
        first = self.vcm("scopes", "--json", check=0)
        self.assertIn("to format 3", first.err)
        self.assertEqual(self.vcm("scopes", "--json", check=0).err, "")
        self.assertEqual(self.stat()["format_version"], 3)
        row = self.map_row(self.repo)
        self.assertEqual(row["status"], "mapped")
        scopes = {scope["scope_id"]: scope for scope in self.vcm("scopes", "--json",
                                                                  check=0).json()["scopes"]}
        self.assertEqual(set(scopes), {"a", "b", row["scope_id"]})
        self.assertEqual([scopes["a"]["pages"], scopes["b"]["pages"]], [3, 2])
        texts = [self.page(page)["records"][0]["text"] for page in self.page_ids("--scope", "a")]
        self.assertEqual(texts, ["one", "two", "x" * 6000])
        self.assertEqual([page["pinned"] for page in self.pages("--scope", "b")], [True, True])
        self.vcm("verify", check=0)

    def test_two_writers_convert_it_once(self):
        runs = [self.start("map", self.make_repo({"f": f"{i}\n"}, name=f"r{i}")) for i in range(3)]
        for run in runs:
            _, error = run.communicate(timeout=60)
            self.assertEqual(run.returncode, 0, error)
        self.assertEqual(len(self.page_ids("--scope", "a")), 3)
        self.vcm("verify", check=0)
