"""Trees and files of unusual shape are mapped whole, or left out for a reason that is told."""

import hashlib
import os
import struct
import zlib

import paging

HUGE = 4 * 1024 ** 3 + 5


def loose_head(size):
    """The beginning of a loose object that claims so many bytes: whoever inflates more finds garbage."""
    stream = zlib.compressobj()
    return stream.compress(f"blob {size}\0".encode() + bytes(64)) + stream.flush(zlib.Z_SYNC_FLUSH)


def pack_of(object_id, size):
    """A pack whose only entry claims so many bytes and has none, and its index."""
    head, rest = [0x30 | size & 15], size >> 4
    while rest:
        head[-1] |= 0x80
        head.append(rest & 0x7f)
        rest >>= 7
    entry = bytes(head) + b"garbage" * 10
    body = b"PACK" + struct.pack(">II", 2, 1) + entry
    pack = body + hashlib.sha1(body).digest()
    fanout = b"".join(struct.pack(">I", byte >= object_id[0]) for byte in range(256))
    index = (b"\xfftOc" + struct.pack(">I", 2) + fanout + object_id +
             struct.pack(">II", zlib.crc32(entry), 12) + pack[-20:])
    return pack, index + hashlib.sha1(index).digest()


class Large(paging.PagingTest):
    def import_tree(self, lines):
        repo = self.make_repo({"first": "x\n"})
        head = ("blob\nmark :1\ndata 5\ntext\n\ncommit refs/heads/main\n"
                "committer B <b@example.com> 1704067200 +0000\ndata 1\nx\nfrom refs/heads/main^0\n")
        self.git(repo, "fast-import", "--quiet", input=head + "".join(lines))
        return repo

    def coverage(self, repo):
        row, = self.map(repo)["sources"]
        self.assertEqual(row["status"], "mapped")
        return row["coverage"]

    def test_a_directory_of_100000_entries_is_mapped(self):
        repo = self.make_repo({"first": "x\n"})
        blob = self.git(repo, "rev-parse", "HEAD:first").strip()
        tree = self.git(repo, "mktree", input="".join(
            f"100644 blob {blob}\tf{i:06}\n" for i in range(100000))).strip()
        commit = self.git(repo, "commit-tree", "-m", "many", tree).strip()
        self.git(repo, "update-ref", "HEAD", commit)
        self.assertEqual(self.coverage(repo)["paged"], 100000)

    def test_500_levels_of_directories_are_mapped(self):
        path = "/".join(["d"] * 500)
        repo = self.import_tree([f"M 644 :1 {path}/deep\n"])
        self.assertEqual(self.coverage(repo)["paged"], 2)

    def test_a_line_of_a_megabyte_is_cut_and_one_of_100_is_too_large(self):
        repo = self.make_repo({"line": "word " * 300000, "long": b"x" * 100_000_000})
        coverage = self.coverage(repo)
        self.assertEqual((coverage["paged"], coverage["too_large"]), (1, 1))
        text = "".join(record["text"] for entry in self.pages()
                       for record in self.page(entry["page_id"])["records"])
        self.assertEqual(text, "word " * 300000)

    def repo_with(self, object_id):
        """A repository whose tree names an object beside a file."""
        repo = self.make_repo({"first": "x\n"})
        blob = self.git(repo, "rev-parse", "HEAD:first").strip()
        tree = self.git(repo, "mktree", "--missing", input=(
            f"100644 blob {blob}\tfirst\n100644 blob {object_id.hex()}\thuge\n")).strip()
        commit = self.git(repo, "commit-tree", "-m", "huge", tree).strip()
        self.git(repo, "update-ref", "HEAD", commit)
        return repo

    def check_huge(self, repo):
        coverage = self.coverage(repo)
        self.assertEqual((coverage["paged"], coverage["too_large"], coverage["failed"]), (1, 1, 0))

    def test_a_loose_object_of_4_gb_is_too_large_by_its_header_alone(self):
        object_id = bytes.fromhex("12" * 20)
        repo = self.repo_with(object_id)
        directory = os.path.join(repo, ".git/objects/12")
        os.makedirs(directory, exist_ok=True)
        with open(os.path.join(directory, object_id.hex()[2:]), "wb") as file:
            file.write(loose_head(HUGE))
            file.truncate(HUGE // 1000)  # what so much could be deflated to; a hole
        self.check_huge(repo)

    def test_a_packed_object_of_4_gb_is_too_large_by_its_header_alone(self):
        object_id = bytes.fromhex("34" * 20)
        repo = self.repo_with(object_id)
        pack, index = pack_of(object_id, HUGE)
        name = os.path.join(repo, ".git/objects/pack/pack-" + "5" * 40)
        for suffix, content in ((".pack", pack), (".idx", index)):
            with open(name + suffix, "wb") as file:
                file.write(content)
        self.check_huge(repo)
