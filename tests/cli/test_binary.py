"""binary_policy: include keeps binary files as records: in base64 when that fits a page."""

import base64
import os
import random

import paging

MAP = ("schema_version: 1\nsources:\n"
       "  - {name: with, type: git_repo, binary_policy: include, exclude_globs: [.colony]}\n"
       "  - {name: without, type: git_repo, binary_policy: skip, exclude_globs: [.colony]}\n")


class Binary(paging.PagingTest):
    def records(self, scope):
        return {record["path"]: record for entry in self.pages("--scope", scope)
                for record in self.page(entry["page_id"], "--scope", scope)["records"]}

    def test_a_binary_file_is_a_record_in_base64_when_it_fits(self):
        random.seed(3)
        files = {"logo.png": b"\x89PNG\r\n\x1a\n\0" + random.randbytes(500),
                 "image": b"\x89PNG\r\n\x1a\n\0rest", "blob.xyz": b"\0\1\2\3",
                 "large.gz": random.randbytes(100) + b"\0" + random.randbytes(20000),
                 "text.txt": "text\n", "exact": b"\0" * 12267, "over": b"\0" * 12268}
        repo = self.make_repo({**files, ".colony/repo_map.yaml": MAP})
        document = self.map(repo, "--scope", "sample")
        with_row, without = document["sources"]
        self.assertEqual((with_row["coverage"]["paged"], with_row["coverage"]["binary"]), (7, 0))
        self.assertEqual((without["coverage"]["paged"], without["coverage"]["binary"]), (1, 6))
        records = self.records("sample:with")
        self.assertEqual(sorted(records), sorted(files))
        types = {"logo.png": "image/png", "image": "image/png", "large.gz": "application/gzip"}
        for path, record in records.items():
            if path == "text.txt":
                self.assertEqual([record[key] for key in ("media_type", "size", "encoding")],
                                 [None] * 3)
                continue
            text = base64.b64encode(files[path]).decode()
            fits = paging.approx4(paging.serialise(path, text)) <= 4096
            self.assertEqual(fits, path not in ("large.gz", "over"), path)
            self.assertEqual(record["text"], text if fits else "", path)
            self.assertEqual((record["size"], record["encoding"]), (len(files[path]), "base64"))
            self.assertEqual(record["media_type"], types.get(path, "application/octet-stream"))
            self.assertEqual((record["start_line"], record["end_line"], record["part"],
                              record["parts"]), (0, 0, 1, 1))
            self.assertEqual(record["blob"], self.git(repo, "rev-parse", f"HEAD:{path}"))
            self.assertFalse(record["lossy"])
        self.assertEqual(self.map(repo, "--scope", "sample")["status"], "already_mapped")

    def test_the_text_says_what_it_is(self):
        repo = self.make_repo({"a.gif": b"GIF89a\0", ".colony/repo_map.yaml": MAP})
        self.map(repo, "--scope", "sample")
        page = self.pages("--scope", "sample:with")[0]["page_id"]
        self.assertEqual(self.vcm("page", page, check=0).out,
                         "======== a.gif (image/gif, 7 bytes, base64, no newline at end)\n"
                         "R0lGODlhAA==\n========\n")

    def test_what_is_too_large_or_missing_is_left_out_all_the_same(self):
        repo = self.make_repo({"gone": b"\0gone", "big": b"\0" * (paging.FILE_BYTES_MAX + 1),
                               ".colony/repo_map.yaml": MAP})
        blob = self.git(repo, "rev-parse", "HEAD:gone")
        os.unlink(os.path.join(repo, ".git/objects", blob[:2], blob[2:]))
        row = self.map(repo, "--only", "with", check=3)["sources"][0]
        self.assertEqual((row["coverage"]["too_large"], row["coverage"]["failed"]), (1, 1))
