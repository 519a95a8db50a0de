"""Git objects byte for byte as an attacker writes them: git itself would refuse most of these.

    repo = raw_git.Repository(test, "evil")
    blob = repo.blob(b"int x;\\n")
    repo.set_head(repo.commit(repo.tree([(b"100644", b"../evil.c", blob)])))
    test.vcm("map", repo.path)
"""

import hashlib
import os
import struct
import zlib


def offset_bytes(distance):
    """The distance to a delta's base as git writes it."""
    text = [distance & 0x7f]
    while distance > 0x7f:
        distance = (distance >> 7) - 1
        text.insert(0, 0x80 | distance & 0x7f)
    return bytes(text)


class Repository:
    """A repository with no commit; `path` is its working tree, which stays empty."""

    def __init__(self, test, name="hostile"):
        self.path = os.path.join(test.tmp, name)
        os.makedirs(self.path)
        test.git(self.path, "init", "--quiet", "--initial-branch=main")
        self.git_dir = os.path.join(self.path, ".git")

    def loose(self, kind, data, as_id=None):
        """Writes an object and returns its id. With `as_id` it stands in the file of another id."""
        whole = b"%s %d\0" % (kind.encode(), len(data)) + data
        object_id = as_id or hashlib.sha1(whole).hexdigest()
        path = os.path.join(self.git_dir, "objects", object_id[:2], object_id[2:])
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if os.path.exists(path):
            os.unlink(path)
        with open(path, "wb") as file:
            file.write(zlib.compress(whole))
        return object_id

    def blob(self, data):
        return self.loose("blob", data)

    def tree(self, entries):
        """A tree of (mode, name, id) in the order given, sorted or not, with any bytes as names."""
        return self.loose("tree", b"".join(mode + b" " + name + b"\0" + bytes.fromhex(object_id)
                                           for mode, name, object_id in entries))

    def commit(self, tree, parents=()):
        lines = [f"tree {tree}", *(f"parent {parent}" for parent in parents)]
        lines += [f"{who} A Tester <tester@example.com> 1704067200 +0000"
                  for who in ("author", "committer")]
        return self.loose("commit", "\n".join([*lines, "", "hostile", ""]).encode())

    def pack(self, entries, name="evil"):
        """A pack with an index. An entry is (id, kind, data): of any id, whatever the data; a kind
        is "commit", "tree", "blob", "tag", an id (then the data is a delta of that object) or a
        number (a delta of the entry so many places before)."""
        kinds = {"commit": 1, "tree": 2, "blob": 3, "tag": 4}
        pack, offsets = b"PACK" + struct.pack(">II", 2, len(entries)), []
        for _, kind, data in entries:
            offsets.append(len(pack))
            number = kinds.get(kind, 6 if isinstance(kind, int) else 7)
            head, size = [number << 4 | len(data) & 15], len(data) >> 4
            while size:
                head[-1] |= 0x80
                head.append(size & 0x7f)
                size >>= 7
            pack += bytes(head)
            if number == 7:
                pack += bytes.fromhex(kind)
            if number == 6:
                pack += offset_bytes(offsets[-1] - offsets[-1 - kind])
            pack += zlib.compress(data)
        pack += hashlib.sha1(pack).digest()
        rows = sorted((bytes.fromhex(entry[0]), offset, zlib.crc32(b""))
                      for entry, offset in zip(entries, offsets))
        index = b"\377tOc" + struct.pack(">I", 2)
        index += b"".join(struct.pack(">I", sum(row[0][0] <= first for row in rows))
                          for first in range(256))
        index += b"".join(row[0] for row in rows)
        index += b"".join(struct.pack(">I", row[2]) for row in rows)
        index += b"".join(struct.pack(">I", row[1]) for row in rows) + pack[-20:]
        index += hashlib.sha1(index).digest()
        base = os.path.join(self.git_dir, "objects", "pack", f"pack-{name}")
        for ending, data in ((".pack", pack), (".idx", index)):
            with open(base + ending, "wb") as file:
                file.write(data)

    def set_head(self, commit):
        with open(os.path.join(self.git_dir, "refs", "heads", "main"), "w") as file:
            file.write(commit + "\n")
        return commit
