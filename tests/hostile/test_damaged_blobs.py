"""One damaged or wrong blob does not take the answer for all other files away."""

import os

import harness
import raw_git

POINTER = (b"version https://git-lfs.github.com/spec/v1\n"
           b"oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\n"
           b"size 12345\n")


class DamagedBlobs(harness.VcmTest):
    BAD = ["dir/cut.c", "garbage.c", "other.c", "tree.c"]

    def setUp(self):
        super().setUp()
        repo = raw_git.Repository(self)
        self.objects, self.repo = repo, repo.path
        good = repo.blob(b"int used(void) { return 0; }\n")
        bad = {name: repo.blob(b"int %s(void) { return used(); }\n" % name)
               for name in (b"garbage", b"cut", b"other")}
        caller = repo.blob(b"int caller(void) { return used(); }\n")
        inside = repo.tree([(b"100644", b"cut.c", bad[b"cut"]), (b"100644", b"fine.c", caller)])
        # "tree.c" is a file by its mode, and its object is a tree.
        repo.set_head(repo.commit(repo.tree([
            (b"40000", b"dir", inside), (b"100644", b"garbage.c", bad[b"garbage"]),
            (b"100644", b"good.c", good), (b"100644", b"lfs.bin", repo.blob(POINTER)),
            (b"100644", b"other.c", bad[b"other"]), (b"100644", b"tree.c", inside)])))
        repo.loose("blob", b"int evil(void) { return used(); }\n", as_id=bad[b"other"])
        for name, change in ((b"garbage", lambda data: b"no zlib stream"),
                             (b"cut", lambda data: data[:len(data) // 2])):
            path = os.path.join(repo.git_dir, "objects", bad[name][:2], bad[name][2:])
            with open(path, "rb") as file:
                data = file.read()
            with open(path, "wb") as file:
                file.write(change(data))

    def assert_incomplete(self, document, key="file_path", reason="damaged"):
        self.assertEqual(document["incomplete"], [{key: path, "reason": reason} for path in self.BAD])

    def test_symbols(self):
        for _ in range(2):  # the second answer does not come from a list that lacks them
            document = self.vcm("symbols", self.repo, "--json", check=0).json()
            self.assertEqual([s["name"] for s in document["symbols"]], ["caller", "used"])
            self.assert_incomplete(document)
        self.assertIn("garbage.c: not read whole: damaged", self.vcm("symbols", self.repo).out)

    def test_refs(self):
        document = self.vcm("refs", "used", self.repo, "--json", check=0).json()
        self.assertEqual([r["file_path"] for r in document["references"]], ["dir/fine.c"])
        self.assert_incomplete(document)

    def test_repo_map(self):
        document = self.vcm("repo", "map", self.repo, "--json", check=0).json()
        self.assertIn("good.c:", document["map"])
        self.assertNotIn("evil", document["map"])
        self.assert_incomplete(document)

    def test_a_map_of_nothing_but_damage_says_so(self):
        document = self.vcm("repo", "map", self.repo, "--include", "garbage.c", "--json", check=0).json()
        self.assertEqual((document["map"], document["reason"]), ("", "damaged"))

    def test_lfs_status(self):
        document = self.vcm("lfs", "status", self.repo, "--json", check=0).json()
        self.assertEqual([f["path"] for f in document["files"]], ["lfs.bin"])
        self.assert_incomplete(document, "path", "object_damaged")
        self.assertIn("garbage.c: not read: object_damaged", self.vcm("lfs", "status", self.repo).out)

    def test_a_blob_that_is_restored_is_read(self):
        self.vcm("symbols", self.repo, check=0)
        self.objects.blob(b"int garbage(void) { return used(); }\n")
        document = self.vcm("symbols", self.repo, "--json", check=0).json()
        self.assertIn("garbage", [s["name"] for s in document["symbols"]])
        self.assertNotIn("garbage.c", [f["file_path"] for f in document["incomplete"]])
