"""Texts that may be LFS pointers: vcm takes for one what git-lfs takes for one, and nothing else."""

import hashlib
import os
import random
import subprocess

import harness

SEED = 20261118
CONTENT = b"kept in LFS\n"
OID = hashlib.sha256(CONTENT).hexdigest()
PLAIN = (f"version https://git-lfs.github.com/spec/v1\noid sha256:{OID}\n"
         f"size {len(CONTENT)}\n").encode()
EXTENSION = f"ext-1-x sha256:{OID}\n".encode()

# What a mutation puts in: bytes that matter to the format, and some that do not.
PIECES = [b"", b"\n", b"\r\n", b"\r", b" ", b"\t", b"\0", b"0", b"+", b"-", b"x y\n", b"\xc2\xa0",
          b"\xff", EXTENSION, b"ext-1-y sha256:00\n", b"size 12\n", b"version x\n"]

VARIANTS = [
    PLAIN, PLAIN.replace(b"\n", b"\r\n"), PLAIN[:-1], PLAIN + b"\n \n", b"\n" + PLAIN,
    PLAIN.replace(b"git-lfs.github", b"hawser.github"),
    PLAIN.replace(b"https://git-lfs.github.com/spec/v1", b"http://git-media.io/v/2"),
    PLAIN.replace(b"sha256", b"sha512"), PLAIN.replace(b"/v1", b"/v2"),
    PLAIN.replace(b"size 1", b"size 01"), PLAIN.upper(), PLAIN.replace(b"\n", b"\r"),
]


class Pointers(harness.VcmTest):
    def is_pointer(self, text):
        """What git-lfs says."""
        path = os.path.join(self.tmp, "candidate")
        with open(path, "wb") as file:
            file.write(text)
        run = subprocess.run(["git", "lfs", "pointer", "--check", f"--file={path}"], check=False,
                             env=self.env, cwd=self.tmp, capture_output=True)
        self.assertIn(run.returncode, (0, 1), run.stderr)
        return run.returncode == 0

    def mutations(self, count):
        chosen = random.Random(SEED)
        for _ in range(count):
            text = chosen.choice(VARIANTS[:7])
            for _ in range(chosen.randint(1, 2)):
                at, cut = chosen.randrange(len(text) + 1), chosen.choice([0, 0, 1, 2])
                if chosen.random() < 0.6:  # at the begin or end of a line
                    ends = [i + 1 for i, byte in enumerate(text) if byte == 10] + [0, len(text)]
                    at = chosen.choice(ends)
                text = text[:at] + chosen.choice(PIECES) + text[at + cut:]
            if 0 < len(text) < 1024:
                yield text

    def test_git_lfs_and_vcm_agree(self):
        texts = VARIANTS + list(self.mutations(2000 if os.environ.get("VCM_TEST_LONG") else 300))
        repo = self.make_repo({f"{i:04}": text for i, text in enumerate(texts)})
        found = self.vcm("lfs", "status", repo, "--json", check=0).json()["files"]
        ours = {file["path"] for file in found}
        theirs = {f"{i:04}" for i, text in enumerate(texts) if self.is_pointer(text)}
        self.assertEqual([texts[int(path)] for path in sorted(ours ^ theirs)], [], f"seed {SEED}")
        self.assertGreater(len(theirs), 6)
        self.assertGreater(len(texts) - len(theirs), 6)

    def test_a_pointer_of_any_form_is_paged_as_its_content(self):
        repo = self.make_repo({f"{i}": text for i, text in enumerate(VARIANTS[:7])})
        path = os.path.join(repo, ".git/lfs/objects", OID[:2], OID[2:4], OID)
        os.makedirs(os.path.dirname(path))
        with open(path, "wb") as file:
            file.write(CONTENT)
        self.vcm("map", repo, check=0)
        [page] = self.vcm("pages", "--json", check=0).json()["pages"]
        records = self.vcm("page", page["page_id"], "--json", check=0).json()["records"]
        self.assertEqual([record["text"] for record in records], [CONTENT.decode()] * 7)
