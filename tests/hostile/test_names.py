"""Names that only an attacker gives to files."""

import os

import harness
import raw_git

SOURCE = b"int %s(void) { return 0; }\n"


class Colliding(harness.VcmTest):
    """Two names whose escaped forms were once the same: a byte that is no UTF-8, and its escape spelled
    out as the name."""

    NAMES = (b"\\x5c.c", b"\\xff.c", b"\\x5cxff.c", b"dir\\x2d.c", b"\xff.c", b"a.c")
    SHOWN = ("\\x5cx5c.c", "\\x5cxff.c", "\\x5cx5cxff.c", "dir\\x2d.c", "\\xff.c", "a.c")

    def make(self, name="hostile", extra=()):
        repo = raw_git.Repository(self, name)
        files = [(name, SOURCE % b"f%d" % i) for i, name in enumerate(self.NAMES)] + list(extra)
        repo.set_head(repo.commit(repo.tree(sorted(
            (b"100644", name, repo.blob(text)) for name, text in files))))
        return repo

    def test_every_name_has_a_path_of_its_own(self):
        repo = self.make()
        self.vcm("map", repo.path, "--scope", "evil", check=0)
        self.vcm("verify", check=0)
        listed = [path for page in self.vcm("pages", "--json", check=0).json()["pages"]
                  for path in page["files"]]
        self.assertEqual(sorted(listed), sorted(self.SHOWN))
        for i, path in enumerate(self.SHOWN):
            found = self.vcm("find", path, "--json", check=0).json()
            page = self.vcm("page", found["pages"][0]["page_id"], "--json", check=0).json()
            record = [r for r in page["records"] if r["path"] == path]
            self.assertEqual([r["text"] for r in record], [(SOURCE % b"f%d" % i).decode()])
            self.assertEqual(record[0]["path_lossy"], path.encode() != self.NAMES[i], path)

    def test_a_map_after_it_sets_no_store_aside(self):
        good = self.make_repo({"good.c": "int good;\n"}, name="good")
        self.vcm("map", good, "--scope", "good", check=0)
        page = self.vcm("pages", "--json", check=0).json()["pages"][0]["page_id"]
        self.vcm("pin", page, check=0)
        evil = self.make().path
        self.vcm("map", evil, "--scope", "evil", check=0)
        self.vcm("verify", check=0)
        for path, scope in ((good, "good"), (evil, "evil")):
            again = self.vcm("map", path, "--scope", scope, "--json", check=0).json()
            self.assertEqual(again["status"], "already_mapped")
        pinned = self.vcm("pages", "--scope", "good", "--json", check=0).json()["pages"]
        self.assertEqual([page["pinned"] for page in pinned], [True])

    def test_the_second_map_reads_its_former_table(self):
        """The former commit was once used after it was freed."""
        repo = self.make()
        self.vcm("map", repo.path, "--scope", "evil", check=0)
        files = [(name, SOURCE % b"f%d" % i) for i, name in enumerate(self.NAMES)]
        files.append((b"new.c", SOURCE % b"g"))
        repo.set_head(repo.commit(repo.tree(sorted(
            (b"100644", name, repo.blob(text)) for name, text in files))))
        again = self.vcm("map", repo.path, "--scope", "evil", "--json", check=0).json()
        self.assertEqual(again["sources"][0]["status"], "remapped")
        self.assertEqual(again["sources"][0]["coverage"]["paged"], len(files))
        self.vcm("verify", check=0)

    def test_symbols_tell_them_apart(self):
        repo = self.make()
        symbols = self.vcm("symbols", repo.path, "--json", check=0).json()["symbols"]
        self.assertEqual({(s["file_path"], s["name"]) for s in symbols},
                         {(path, f"f{i}") for i, path in enumerate(self.SHOWN)})
        self.assertEqual(len({s["symbol_id"] for s in symbols}), len(symbols))
        shown = self.vcm("repo", "map", repo.path, check=0).out
        for path in self.SHOWN:
            self.assertIn(f"\n{path}:\n", "\n" + shown)

    def test_the_knowledge_base_has_a_document_of_each(self):
        repo = raw_git.Repository(self)
        texts = {b"\\xff.md": b"# Alpha\n\nword walnut\n", b"\xff.md": b"# Beta\n\nword chestnut\n"}
        entries = [(b"100644", name, repo.blob(text)) for name, text in sorted(texts.items())]
        routes = repo.tree([(b"100644", b"repo_map.yaml", repo.blob(
            b"schema_version: 1\nsources: []\nknowledge_routing:\n  - paths: ['*.md']\n"))])
        repo.set_head(repo.commit(repo.tree([(b"40000", b".colony", routes), *entries])))
        for _ in range(2):
            self.vcm("map", repo.path, "--scope", "evil", check=0)
            listed = self.vcm("kb", "list", "--json", check=0).json()["documents"]
            self.assertEqual(sorted(d["path"] for d in listed), ["\\x5cxff.md", "\\xff.md"])
        for word, path in (("walnut", "\\x5cxff.md"), ("chestnut", "\\xff.md")):
            hits = self.vcm("kb", "search", word, "--json", check=0).json()["hits"]
            self.assertEqual([hit["path"] for hit in hits], [path])
        again = self.vcm("map", repo.path, "--scope", "evil", "--json", check=0).json()
        self.assertEqual(again["knowledge"]["skipped"], 2)


class SameHash(harness.VcmTest):
    """Paths whose 64-bit hashes are the same, found in seconds: the index of paths goes by this hash."""

    NAMES = ("42ce2ebd41236c39", "7c7297ec11ae85c0")

    def test_both_are_found_and_the_store_is_sound(self):
        for pinned in ((), ("--pinned",)):
            files = {name: f"int x{name};\n" for name in self.NAMES}
            repo = self.make_repo(files, name="repo" + "".join(pinned))
            scope = "evil" + "".join(pinned)
            self.vcm("map", repo, "--scope", scope, *pinned, check=0)
            self.assert_both(scope)
            self.commit(repo, {"other": "int y;\n"})
            self.vcm("map", repo, "--scope", scope, *pinned, check=0)
            self.assert_both(scope)
            self.commit(repo, {}, remove=[self.NAMES[1]])
            self.vcm("map", repo, "--scope", scope, *pinned, check=0)
            self.vcm("verify", check=0)
            self.vcm("find", self.NAMES[0], "--scope", scope, check=0)
            self.vcm("find", self.NAMES[1], "--scope", scope, check=1)
            self.vcm("unmap", scope, check=0)
            self.vcm("verify", check=0)

    def assert_both(self, scope):
        self.vcm("verify", check=0)
        for name in self.NAMES:
            found = self.vcm("find", name, "--scope", scope, "--json", check=0).json()
            self.assertEqual(len(found["pages"]), 1)


class Refused(harness.VcmTest):
    """What git itself would not check out is told in the ledger, and goes nowhere else."""

    def setUp(self):
        super().setUp()
        self.good = self.make_repo({"good.c": "int good;\n"}, name="good")
        self.vcm("map", self.good, "--scope", "good", check=0)

    def ledger(self, entries, paged, failed):
        """Maps a tree and compares what is in pages and what has failed."""
        repo = raw_git.Repository(self, f"repo{len(self.repos())}")
        repo.set_head(repo.commit(repo.tree([(mode, name, object_id or repo.blob(b"int x;\n"))
                                             for mode, name, object_id in entries(repo)])))
        self.vcm("map", repo.path, "--scope", "evil", "--replace", check=3)
        self.check_ledger(paged, failed)
        return repo

    def repos(self):
        return [name for name in os.listdir(self.tmp) if name.startswith("repo")]

    def check_ledger(self, paged, failed):
        self.vcm("verify", check=0)
        entries = self.vcm("coverage", "evil", "--json", check=0).json()["files"]
        self.assertEqual(sorted(e["path"] for e in entries if e["outcome"] == "paged"), paged)
        self.assertEqual(sorted((e["path"], e["reason"]) for e in entries if e["outcome"] == "failed"),
                         failed)
        again = self.vcm("map", self.good, "--scope", "good", "--json", check=0).json()
        self.assertEqual(again["status"], "already_mapped")

    def test_a_name_that_leads_out_of_its_directory(self):
        def entries(repo):
            inside = repo.tree([(b"100644", b"config", repo.blob(b"[core]\n"))])
            return [(b"100644", b"../evil.c", None), (b"40000", b"..", inside),
                    (b"40000", b".", inside), (b"40000", b".git", inside),
                    (b"40000", b".GIT", inside), (b"100644", b".git.", None),
                    (b"40000", b"git~1", inside), (b"40000", b".g\xe2\x80\x8cit", inside),
                    (b"40000", b"src", repo.tree([(b"40000", b".git", inside),
                                                  (b"100644", b"/etc/passwd", None or
                                                   repo.blob(b"root\n"))])),
                    (b"100644", b"good.c", None)]
        repo = self.ledger(entries, ["good.c"], sorted((path, "name_refused") for path in (
            "\\x2e.\\x2fevil.c", "\\x2e.", "\\x2e", "\\x2egit", "\\x2eGIT", "\\x2egit.", "git~1",
            "\\x2eg\u200cit", "src/\\x2egit", "src/\\x2fetc\\x2fpasswd")))
        for command in (("symbols",), ("repo", "map"), ("lfs", "status"), ("check",)):
            result = self.vcm(*command, repo.path, check=0)
            for word in ("evil", "config", "passwd"):
                self.assertNotIn(word, result.out)

    def test_two_entries_of_one_name(self):
        self.ledger(lambda repo: [(b"100644", b"a.c", None), (b"100644", b"a.c", repo.blob(b"2\n"))],
                    ["a.c"], [("a.c", "name_twice")])

    def test_two_entries_of_one_name_that_are_not_neighbours(self):
        self.ledger(lambda repo: [(b"100644", b"a.c", None), (b"100644", b"b.c", None),
                                  (b"100644", b"a.c", repo.blob(b"2\n"))],
                    ["a.c", "b.c"], [("a.c", "name_twice")])

    def test_a_file_and_a_directory_of_one_name(self):
        def entries(repo):
            inside = repo.tree([(b"100644", b"b.c", repo.blob(b"int b;\n"))])
            return [(b"100644", b"a", None), (b"100644", b"a.c", None), (b"40000", b"a", inside)]
        self.ledger(entries, ["a", "a.c"], [("a", "name_twice")])

    def test_two_directories_of_one_name_and_the_second_map(self):
        def entries(repo):
            one = repo.tree([(b"100644", b"b.c", repo.blob(b"int b;\n"))])
            two = repo.tree([(b"100644", b"b.c", repo.blob(b"int other;\n"))])
            return [(b"40000", b"d", one), (b"100644", b"e", None), (b"40000", b"d", two)]
        repo = self.ledger(entries, ["d/b.c", "e"], [("d", "name_twice")])
        tree = repo.tree([*((mode, name, object_id or repo.blob(b"int x;\n"))
                            for mode, name, object_id in entries(repo)),
                          (b"100644", b"f", repo.blob(b"new\n"))])
        repo.set_head(repo.commit(tree))
        self.vcm("map", repo.path, "--scope", "evil", check=3)
        self.check_ledger(["d/b.c", "e", "f"], [("d", "name_twice")])

    def test_an_unsorted_tree_is_mapped_as_the_sorted_one(self):
        pages = []
        for order in (sorted, lambda names: sorted(names, reverse=True)):
            repo = raw_git.Repository(self, f"repo{len(pages)}")
            inside = repo.tree([(b"100644", b"x.c", repo.blob(b"int in;\n"))])
            names = order([b".gitignore", b"a", b"b.c", b"c", b"ignored"])
            repo.set_head(repo.commit(repo.tree(
                [(b"40000", name, inside) if name == b"a" else
                 (b"100644", name, repo.blob(b"ignored\n" if name == b".gitignore" else name + b"\n"))
                 for name in names])))
            self.vcm("map", repo.path, "--scope", "evil", "--replace", check=0)
            self.check_ledger([".gitignore", "a/x.c", "b.c", "c"], [])
            pages.append([page["page_id"] for page in self.vcm(
                "pages", "--scope", "evil", "--json", check=0).json()["pages"]])
        self.assertEqual(*pages)

    def test_a_tree_with_the_bytes_of_another_is_not_mapped(self):
        repo = raw_git.Repository(self)
        good, evil = repo.blob(b"int b;\n"), repo.blob(b"evil\n")
        inside = repo.tree([(b"100644", b"b.c", good)])
        root = repo.tree([(b"40000", b"d", inside), (b"100644", b"e", good)])
        repo.set_head(repo.commit(root))
        self.vcm("map", repo.path, "--scope", "evil", check=0)
        repo.set_head(repo.commit(repo.tree([(b"40000", b"new", inside)])))
        repo.loose("tree", b"100644 evil.c\0" + bytes.fromhex(evil), as_id=inside)
        result = self.vcm("map", repo.path, "--scope", "evil", "--json", check=1).json()
        self.assertIn("'new': its object is damaged", result["sources"][0]["message"])
        repo.set_head(repo.commit(root))
        repo.loose("tree", b"100644 evil.c\0" + bytes.fromhex(evil), as_id=root)
        result = self.vcm("map", repo.path, "--scope", "evil", "--json", check=1).json()
        self.assertIn("its object is damaged", result["error"]["message"])
        self.check_ledger(["d/b.c", "e"], [])
