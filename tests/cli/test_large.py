"""Trees and files of unusual shape are mapped whole, or left out for a reason that is told."""

import paging


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
