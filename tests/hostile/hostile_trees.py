"""Makes repositories that git would refuse, from a seed: the same seed gives the same objects.

A line in NAMES, TEXTS or MODES, or a method whose name begins with `entry_`, is one more thing that
every later run may try, alone or with the others.
"""

import os
import random

import raw_git

NAMES = [
    # Spelled-out escapes beside what they stand for, and what is nearly one.
    b"\xff", b"\\xff", b"\\x5cxff", b"\\xFF", b"\\x", b"\\x2e", b"\\x2f", b"\\x2e.", b"\\\\xff", b"\\",
    # Two names with one 64-bit hash.
    b"42ce2ebd41236c39", b"7c7297ec11ae85c0",
    # Names that lead elsewhere, and what file systems take for them.
    b".", b"..", b"...", b".git", b".GIT", b".git ", b".git.", b".git::$INDEX_ALLOCATION", b"git~1",
    b".g\xe2\x80\x8cit", b"/", b"//", b"/etc/passwd", b"../a", b"../../a", b"a/b", b"a/../b", b"a/", b"./a",
    # What terminals, JSON, Markdown and patterns treat as their own.
    b"\n", b"\r\n", b"\x1b[2J", b"\x7f", b"\xc2\x9b31m", b"\xe2\x80\xae.c", b"\xef\xbb\xbfa.c", b"\t", b" ", b"a b.c",
    b"```", b"</record>", b'"', b"'", b"{}", b"*", b"[a]", b"!a", b"#a", b"-n", b"--help", b"%s", b"$HOME",
    # Broken UTF-8 of every kind.
    b"\xc3", b"\xe2\x82", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xc0\xae\xc0\xae", b"a\x80b",
    # Files with a meaning.
    b".gitignore", b".colonyignore", b".gitattributes", b".gitmodules", b"README.md", b"a.c", b"a.py", b"a.pdf",
    b"a", b"b", b"A", b"a.c.c",
]

TEXTS = [
    b"", b"\n", b"\0", b"\0" * 9000, b"x" * 9000 + b"\0", b"\xff\xfe", b"\xff" * 3000, b"\r", b"\r\n" * 50,
    b"\x01" * 5000, b" " * 70000, b"a" * 70000, b"\n" * 20000, b"int f(void) { return g(); }\n",
    b"int f(void) { return g(); }\n" * 900, b"def f():\n    return g()\n", b"# Title\n\ntext\n", b"```\n", b"{" * 3000,
    b"*\n", b"!*\n", b"/a\n[\n**/\n", b"[submodule \"x\"]\n\tpath = ../x\n\turl = file:///\n", b"%PDF-1.4\n",
    b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 5\n",
    "\u2028\u202e\U0001f600".encode() * 300,
]

MODES = [b"100644"] * 8 + [b"100755", b"120000", b"160000", b"100664", b"0", b"777", b"0100644", b"60644", b"177777"]
DIRECTORY = b"40000"


class Trees:
    def __init__(self, test, seed):
        self.random = random.Random(seed)
        self.repo = raw_git.Repository(test, f"hostile-{seed}")
        self.count = 0

    def name(self):
        kind = self.random.randrange(10)
        if kind < 7:
            return self.random.choice(NAMES)
        if kind == 7:  # any bytes
            return self.random.randbytes(self.random.randint(1, 12)).replace(b"\0", b"0")
        if kind == 8:
            return self.random.choice([b"n", b"\xff", b"\\xff", b"\n", b"\\"]) * self.random.choice([200, 5000])
        return b"%d" % self.random.randrange(5) + self.random.choice([b".c", b".py", b".md", b""])

    def blob(self):
        return self.repo.blob(self.random.choice(TEXTS) + self.random.choice([b"", b"1", b"\n"]))

    def nowhere(self):
        return self.random.randbytes(20).hex()

    # Every method makes one or more entries (mode, name, id) of a tree.

    def entry_file(self, depth):
        return [(self.random.choice(MODES), self.name(), self.blob())]

    def entry_directory(self, depth):
        return [(DIRECTORY, self.name(), self.tree(depth + 1))]

    def entry_twins(self, depth):
        name = self.name()
        return [(self.random.choice(MODES + [DIRECTORY]), name,
                 self.random.choice([self.blob(), self.tree(depth + 1)])) for _ in range(2)]

    def entry_object_that_is_missing(self, depth):
        return [(self.random.choice(MODES), self.name(), self.nowhere())]

    def entry_object_of_another_type(self, depth):
        return [self.random.choice([(b"100644", self.name(), self.tree(depth + 1)),
                                    (b"160000", self.name(), self.blob())])]

    def entry_blob_with_other_bytes(self, depth):
        victim = self.repo.blob(b"victim %d\n" % self.random.randrange(10 ** 9))
        self.repo.loose("blob", b"other\n", as_id=victim)
        return [(b"100644", self.name(), victim)]

    def entry_many(self, depth):
        blob = self.blob()
        return [(b"100644", b"%d" % self.random.randrange(300), blob) for _ in range(100)]

    def entry_shared(self, depth):
        tree = self.tree(depth + 2)
        return [(DIRECTORY, b"s%d" % i, tree) for i in range(4)]

    def tree(self, depth=0):
        makers = [getattr(self, name) for name in sorted(dir(self)) if name.startswith("entry_")]
        entries = []
        for _ in range(self.random.choice([0, 1, 2, 5]) if depth < 3 else self.random.randrange(2)):
            maker = self.entry_file if depth >= 3 else self.random.choice(makers + [self.entry_file] * 4)
            entries += maker(depth)
        order = self.random.randrange(3)
        if order == 0:
            self.random.shuffle(entries)
        elif order == 1:  # git's order
            entries.sort(key=lambda e: e[1] + (b"/" if e[0] == DIRECTORY else b""))
        return self.repo.tree(entries)

    def root(self):
        """A tree that git cannot read at all is rare; one with a sound file is usual."""
        kind = self.random.randrange(12)
        if kind == 0:
            return self.repo.loose("tree", self.random.choice([
                b"x", b"100644 a", b"100644 \0" + b"a" * 20, b"9 a\0" + b"a" * 20, self.random.randbytes(60)]))
        if kind == 1:
            victim = self.repo.tree([(b"100644", b"v%d" % self.random.randrange(10 ** 9), self.blob())])
            self.repo.loose("tree", b"100644 other\0" + bytes.fromhex(self.blob()), as_id=victim)
            return self.random.choice([victim, self.repo.tree([(DIRECTORY, b"d", victim)])])
        if kind == 2:  # deep
            inner = self.tree(2)
            for _ in range(self.random.choice([40, 1100])):
                inner = self.repo.tree([(DIRECTORY, b"d", inner)])
            return inner
        inner = self.tree()
        return self.repo.tree([(DIRECTORY, b"in", inner), (b"100644", b"sound.c", self.blob())]
                              ) if kind < 8 else inner

    def commit(self):
        return self.repo.set_head(self.repo.commit(self.root()))


def long_minutes():
    """How long to go on, from VCM_TEST_LONG; 0 for a few dozen trees."""
    return 10 if os.environ.get("VCM_TEST_LONG") else 0
