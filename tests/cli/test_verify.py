"""verify finds whatever is wrong in a store, and no damage ends it."""

import os
import random
import shutil
import signal
import unittest

from harness import WriterLock
from paging import PagingTest

SEED = int(os.environ.get("VCM_TEST_SEED", "20261118"))
LONG = os.environ.get("VCM_TEST_LONG") == "1"
FLIPS = 400 if LONG else 40


class VerifyTest(PagingTest):
    def setUp(self):
        super().setUp()
        print(f"seed {SEED}")
        self.data = os.path.join(self.home, "store/data.mdb")
        self.marker = os.path.join(self.home, "store.damaged")
        chosen = random.Random(SEED)
        self.repos = [self.make_repo({f"{name}/f{i}": f"{name} {i} {chosen.random()}\n" * 300
                                      for i in range(12)}, name=name) for name in ("one", "two")]
        for repo, scope in zip(self.repos, ("first", "second")):
            self.map_row(repo, "--scope", scope, "--flush-token-budget", "2000")
        self.right = self.listing()

    def listing(self):
        return [{key: page[key] for key in ("page_id", "scope_id", "seq", "files", "tokens")}
                for page in self.pages()]

    def verify(self, *args, check=None):
        result = self.vcm("verify", "--json", *args)
        document = result.json()
        if "error" in document:
            self.fail(result)
        self.assertEqual(result.status, 0 if document["ok"] else 1, result)
        self.assertEqual(document["ok"], not document["findings"], result)
        for finding in document["findings"]:
            self.assertEqual(list(finding), ["what", "where"])
            self.assertTrue(finding["what"] and finding["where"], finding)
        if check is not None:
            self.assertEqual(document["ok"], check, result)
        return document

    def mend(self):
        self.map(self.repos[0], "--scope", "first", "--flush-token-budget", "2000")
        self.assertFalse(os.path.exists(self.marker))
        self.assertEqual(self.listing(), self.right)
        self.verify(check=True)


class Limits(VerifyTest):
    """What a store holds beyond its limits is found, and is no damage."""

    def write_by_hand(self, **settings):
        with open(os.path.join(self.home, "config.yaml"), "w", encoding="utf-8") as file:
            file.write("tokenizer: approx4\n")
            file.writelines(f"cache.{key}: {value}\n" for key, value in settings.items())

    def assert_found(self, *numbers):
        """These, once each; what they say to do is done by the caller."""
        findings = self.verify(check=not numbers)["findings"]
        self.assertEqual([finding["what"][:3] for finding in findings],
                         [f"{number}:" for number in numbers], findings)
        self.assertFalse(os.path.exists(self.marker))
        return findings

    def test_more_than_the_capacity_is_found_until_it_is_set(self):
        self.write_by_hand(capacity=20000)
        what = self.assert_found("C1")[0]["what"]
        self.assertIn("'vcm config set cache.capacity 20000'", what)
        self.vcm("config", "set", "cache.capacity", "20000", check=0)
        self.assert_found()

    def test_more_than_the_compressed_capacity_is_found_until_it_is_set(self):
        self.vcm("evict", "--all", check=0)
        self.write_by_hand(compressed_capacity=100)
        what = self.assert_found("C1")[0]["what"]
        self.assertIn("'vcm config set cache.compressed_capacity 100'", what)
        self.vcm("config", "set", "cache.compressed_capacity", "100", check=0)
        self.assert_found()

    def test_more_pinned_and_locked_than_the_capacity_is_found(self):
        pages = self.pages()
        self.vcm("pin", pages[0]["page_id"], check=0)
        self.vcm("lock", pages[1]["page_id"], "--ttl", "10m", check=0)
        needed = pages[0]["bytes"] + pages[1]["bytes"]
        self.vcm("config", "set", "cache.capacity", str(needed), check=0)
        self.assert_found()
        self.write_by_hand(capacity=needed - 1)
        self.assert_found("C1", "C2")
        self.vcm("unlock", pages[1]["page_id"], check=0)
        self.assert_found("C1")
        self.vcm("fault", pages[2]["page_id"], check=0)
        self.assert_found()


class Sound(VerifyTest):
    def test_pages_of_every_state_are_checked(self):
        ids = [page["page_id"] for page in self.right]
        self.vcm("evict", *ids[:3], check=0)
        self.vcm("evict", *ids[3:6], "--to", "evicted", check=0)
        self.vcm("pin", ids[7], check=0)
        self.vcm("lock", ids[8], "--ttl", "1h", check=0)
        before = self.stat()["faults"]
        document = self.verify("--deep", check=True)
        self.assertEqual(document["pages_checked"], len(set(ids)))
        self.assertEqual(self.stat()["faults"], before)
        self.assertIn("nothing wrong", self.vcm("verify", check=0).out)
        self.assertFalse(os.path.exists(self.marker))

    def test_a_missing_home_is_fine_and_is_not_made(self):
        nowhere = os.path.join(self.tmp, "nowhere")
        document = self.vcm("verify", "--json", "--home", nowhere, check=0).json()
        self.assertEqual(document, {"ok": True, "pages_checked": 0, "findings": []})
        self.assertFalse(os.path.exists(nowhere))

    def test_what_cannot_be_rebuilt_is_told_and_is_no_damage_of_the_store(self):
        page = self.right[0]["page_id"]
        self.vcm("evict", page, "--to", "evicted", check=0)
        os.rename(self.repos[0], self.repos[0] + ".gone")
        self.verify(check=True)
        [finding] = self.verify("--deep", check=False)["findings"]
        self.assertIn(page, finding["where"])
        self.assertFalse(os.path.exists(self.marker))

    def test_it_reads_while_another_writes(self):
        lock = WriterLock(self.home)
        self.addCleanup(lock.release)
        self.verify(check=True)

    def test_an_interruption_ends_it(self):
        run = self.start("verify", "--deep", "--json")
        run.send_signal(signal.SIGINT)
        run.communicate(timeout=60)
        self.assertIn(run.returncode, (0, 130, -signal.SIGINT))


class Damaged(VerifyTest):
    def setUp(self):
        super().setUp()
        ids = [page["page_id"] for page in self.right]
        self.vcm("evict", *ids[:4], check=0)
        self.vcm("evict", *ids[4:6], "--to", "evicted", check=0)
        self.copy = os.path.join(self.tmp, "copy.mdb")
        shutil.copyfile(self.data, self.copy)

    def restore(self):
        shutil.copyfile(self.copy, self.data)
        if os.path.exists(self.marker):
            os.unlink(self.marker)

    def change(self, at, data):
        with open(self.data, "r+b") as file:
            file.seek(at)
            file.write(data)

    def byte_at(self, at):
        with open(self.data, "rb") as file:
            file.seek(at)
            return file.read(1)[0]

    def test_every_byte_of_a_frame_counts(self):
        with open(self.data, "rb") as file:
            content = file.read()
        at = content.rfind(b'{"path":')
        for offset in (0, 9, 500, 2000):
            self.change(at + offset, bytes([self.byte_at(at + offset) ^ 0x10]))
            document = self.verify(check=False)
            self.assertTrue(os.path.exists(self.marker))
            self.assertTrue(any("page" in finding["where"] or "frames" in finding["where"]
                                for finding in document["findings"]), document)
            self.restore()
        self.verify(check=True)

    def test_no_flipped_bit_ends_it(self):
        chosen = random.Random(SEED)
        size = os.path.getsize(self.data)
        found = 0
        for number in range(FLIPS):
            at = chosen.randrange(size)
            with self.subTest(number=number, at=at):
                self.change(at, bytes([self.byte_at(at) ^ (1 << chosen.randrange(8))]))
                try:
                    document = self.verify()
                    self.assertEqual(os.path.exists(self.marker), not document["ok"], document)
                    found += not document["ok"]
                finally:
                    self.restore()
        self.assertGreater(found, FLIPS // 10)

    def test_no_garbage_ends_it(self):
        """Pages of the file with headers, keys and pointers that are anything."""
        chosen = random.Random(SEED + 1)
        pages = os.path.getsize(self.data) // 4096
        found = 0
        for number in range(FLIPS):
            page = chosen.randrange(pages)
            with self.subTest(number=number, page=page):
                length = chosen.choice((16, 64, 512, 4096))
                self.change(page * 4096 + chosen.choice((0, 8, 16)), chosen.randbytes(length))
                try:
                    found += not self.verify()["ok"]
                finally:
                    self.restore()
        self.assertGreater(found, FLIPS // 4)

    def test_no_truncation_ends_it_and_map_mends_it(self):
        size = os.path.getsize(self.data)
        for length in (0, 1, 4096, 8192, size // 2 // 4096 * 4096, size - 4096, size - 1):
            with self.subTest(length=length):
                os.truncate(self.data, length)
                document = self.vcm("verify", "--json").json()
                self.assertFalse(document.get("ok"), document)
                self.restore()
        os.truncate(self.data, size // 2 // 4096 * 4096)
        self.verify(check=False)
        self.mend()

    def free_list(self):
        """Where a list of free pages is in the file (its length, then pages), and a page in use."""
        with open(self.data, "rb") as file:
            content = file.read()

        def number(at, size=8):
            return int.from_bytes(content[at:at + size], "little")
        meta = max((0, 4096), key=lambda at: number(at + 144))
        free, main = number(meta + 80), number(meta + 128)
        for at in range(free * 4096 + 16, free * 4096 + number(free * 4096 + 12, 2), 2):
            node = free * 4096 + number(at, 2)
            value = node + 8 + number(node + 6, 2)
            if not number(node + 4, 2) & 1 and number(value) > 1:
                return value, number(value), main
        return self.fail("no list of free pages")

    def test_a_page_that_is_free_and_in_use_is_told_and_mended(self):
        at, _, used = self.free_list()
        self.change(at + 8, used.to_bytes(8, "little"))
        document = self.verify(check=False)
        self.assertIn(f"page {used} of the file", document["findings"][0]["where"])
        self.assertIn("free and in use", document["findings"][0]["what"])
        self.assertTrue(os.path.exists(self.marker))
        self.mend()

    def test_a_page_that_is_neither_is_told_and_mended(self):
        at, count, _ = self.free_list()
        self.change(at, (count - 1).to_bytes(8, "little"))
        [finding] = self.verify(check=False)["findings"]
        self.assertIn("neither free nor in use", finding["what"])
        self.mend()

    def test_what_was_found_is_mended_by_the_next_map(self):
        with open(self.data, "rb") as file:
            at = file.read().rfind(b'{"path":')
        self.change(at + 30, b"\0\0\0")
        result = self.vcm("verify", check=1)
        self.assertIn("vcm map", result.out)
        self.mend()

    def test_a_damaged_order_of_eviction_is_told_and_made_anew(self):
        residency = os.path.join(self.home, "store/residency")
        chosen = random.Random(SEED)
        size = os.path.getsize(residency)
        with open(residency, "rb") as file:
            good = file.read()
        for _ in range(FLIPS // 4):
            with open(residency, "r+b") as file:
                for _ in range(chosen.randrange(1, 200)):
                    file.seek(chosen.randrange(size))
                    file.write(chosen.randbytes(8))
            self.verify()
            self.assertFalse(os.path.exists(self.marker))
            self.vcm("fault", self.right[0]["page_id"], check=0)
            self.vcm("evict", self.right[0]["page_id"], check=0)
            self.verify(check=True)
            with open(residency, "r+b") as file:
                file.write(good)
        self.vcm("evict", "--all", check=0)
        self.verify(check=True)


if __name__ == "__main__":
    unittest.main()
