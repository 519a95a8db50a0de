"""Looking at repositories: maps, definitions, uses, lines, LFS; each on a real repository."""

import os
import subprocess

import fixture
from fixture import COLONY, commit, git, vcm, write

SHOP = '''class Shop:
    """Sells things."""

    def total(self, prices):
        """Adds up."""
        return sum(prices)


def main():
    print(Shop().total([1, 2]))
'''


class Repository(fixture.Case):
    async def asyncSetUp(self):
        await super().asyncSetUp()
        write(self.repo, "src/shop.py", SHOP)
        commit(self.repo)

    async def fails(self, code, call):
        with self.assertRaises(vcm.VcmError) as caught:
            await call
        self.assertEqual(caught.exception.code, code)
        return str(caught.exception)

    async def test_definitions_and_their_uses(self):
        found = await self.manager.symbols(self.repo, file="src/*.py")
        self.assertEqual([(s.name, s.container, s.line) for s in found.symbols],
                         [("Shop", None, 1), ("total", "Shop", 4), ("main", None, 9)])
        self.assertEqual((found.total, found.truncated, found.incomplete), (3, False, []))
        total = found.symbols[1]
        self.assertEqual((total.kind, total.documentation), ("method", "Adds up."))
        uses = await self.manager.refs(total.symbol_id, repository=self.repo)
        self.assertEqual([(r.file_path, r.line, r.from_symbol is not None)
                          for r in uses.references], [("src/shop.py", 10, True)])
        two = await self.manager.symbols(self.repo, file="src/*.py", limit=2)
        self.assertEqual((len(two.symbols), two.total, two.truncated), (2, 3, True))
        rest = await self.manager.symbols(self.repo, file="src/*.py", from_file="src/shop.py",
                                          from_line=two.symbols[-1].line + 1)
        self.assertEqual([s.name for s in rest.symbols], ["main"])
        for name in ("Shop", "total"):
            earlier = await self.manager.refs(name, repository=self.repo, commit="HEAD~1")
            self.assertEqual(earlier.total, 0)
        before = await self.manager.symbols(self.repo, file="*.py", commit="HEAD~1")
        self.assertEqual(before.total, 0)
        await self.fails("NOT_FOUND", self.manager.refs("src/shop.py:3#no", repository=self.repo))

    async def test_what_changed(self):
        write(self.repo, "src/shop.py", SHOP.replace("sum(prices)", "0"))
        commit(self.repo)
        found = await self.manager.diff("HEAD~1..HEAD", repository=self.repo)
        self.assertEqual([(c.change, c.path, c.symbol, c.line) for c in found.changes],
                         [("changed", "src/shop.py", "Shop.total", 4)])
        self.assertEqual((len(found.from_commit), found.files, found.total), (40, 1, 1))
        await self.fails("NOT_FOUND", self.manager.diff("nowhere..HEAD", repository=self.repo))

    async def test_the_most_used_definitions(self):
        found = await self.manager.repo_map(self.repo, token_budget=300, focus=["src/shop.py"])
        self.assertIn("src/shop.py", found.map)
        self.assertLessEqual(found.tokens, 300)
        self.assertGreater(found.files_dropped, 0)

    async def test_lines_of_files_definitions_and_pages(self):
        found = await self.manager.read(["Shop.total", "src/f1.c:1-2"], repository=self.repo)
        self.assertEqual([(item.path, item.start_line, item.end_line, item.source)
                          for item in found.items],
                         [("src/shop.py", 4, 6, "commit"), ("src/f1.c", 1, 2, "commit")])
        self.assertIn("return sum(prices)", found.items[0].text)
        self.assertIn("Shop.total", found.items[0].symbol)
        self.assertIn("4\t    def total", found.rendered)
        self.assertEqual(found.rendered_tokens,
                         await self.manager.count_tokens(found.rendered))
        write(self.repo, "src/shop.py", SHOP.replace("sum(prices)", "0"))
        changed = await self.manager.read("Shop.total", repository=self.repo, worktree=True)
        self.assertIn("return 0", changed.items[0].text)
        await self.map()
        mapped = await self.manager.read("src/f1.c:1", scope_id=COLONY, format="markdown")
        self.assertEqual((mapped.items[0].scope_id, mapped.items[0].source), (COLONY, "page"))
        self.assertIn("```", mapped.rendered)
        first = await self.manager.read("src/f1.c", repository=self.repo, max_tokens=200)
        self.assertTrue(first.truncated)
        rest = await self.manager.read("src/f1.c", repository=self.repo, cursor=first.next_cursor)
        self.assertEqual(rest.items[0].start_line, first.items[0].end_line + 1)
        await self.fails("NOT_FOUND", self.manager.read("no_such_thing", repository=self.repo))

    async def test_lines_that_match(self):
        found = await self.manager.grep(r"sum\(", repository=self.repo, context=1)
        self.assertEqual([(m.path, m.line, m.symbol) for m in found.matches],
                         [("src/shop.py", 6, "Shop.total")])
        self.assertEqual((len(found.matches[0].before), found.matches[0].after), (1, [""]))
        self.assertTrue(found.complete)
        some = await self.manager.grep("return", repository=self.repo, paths=["*.c"], limit=3)
        self.assertEqual((len(some.matches), some.total, some.truncated), (3, 40 * 30, True))
        last = some.matches[-1]
        rest = await self.manager.grep("return", repository=self.repo, paths=["*.c"], limit=1,
                                       from_path=last.path, from_line=(last.line or 0) + 1)
        self.assertGreater(rest.matches[0].line, last.line)
        await self.map()
        mapped = await self.manager.grep("F1(", scope_id=COLONY, literal=True, ignore_case=True,
                                         files_only=True)
        self.assertEqual([(m.scope_id, m.path) for m in mapped.matches], [(COLONY, "src/f1.c")])
        self.assertIn("column", await self.fails("INVALID_ARGUMENT", self.manager.grep(
            "(", repository=self.repo)))

    async def test_definitions_with_their_lines_and_tokens(self):
        found = await self.manager.outline("src/shop.py", repository=self.repo)
        self.assertEqual([(s.name, s.line, s.end_line) for s in found.files[0].symbols],
                         [("Shop", 1, 6), ("total", 4, 6), ("main", 9, 10)])
        self.assertEqual(found.files[0].language, "python")
        self.assertIn("total", found.rendered)

    async def test_the_pages_of_a_file_and_of_a_line(self):
        await self.map()
        found = await self.manager.find("src/f1.c:5", scope_id=COLONY)
        self.assertEqual(len(found), 1)
        records = await self.manager.get_application_records_in_page(found[0].page_id)
        self.assertEqual(records[found[0].record].path, "src/f1.c")
        await self.fails("NOT_FOUND", self.manager.find("no.c"))

    async def test_tokens_of_files_and_texts(self):
        path = os.path.join(self.repo, "src", "shop.py")
        counted = await self.manager.tokens([path, path])
        self.assertEqual(counted.total, 2 * await self.manager.count_tokens(SHOP))
        self.assertEqual((counted.encoding, counted.files[0].bytes),
                         ("o200k_base", len(SHOP.encode())))
        self.assertIn("nothing_here", await self.fails("NOT_FOUND", self.manager.tokens(
            [os.path.join(self.folder, "nothing_here")])))

    async def test_a_map_is_checked_previewed_and_shown(self):
        checked = await self.manager.check(self.repo)
        self.assertEqual((checked.ok, checked.errors, [(s.name, s.matched_files)
                                                       for s in checked.sources]),
                         (True, [], [("code", 40), ("notes", 1)]))
        preview = await self.manager.preview(self.repo, base_scope_id="p",
                                             enabled_sources=["notes"])
        source, = preview.sources
        self.assertEqual((source.name, source.scope_id, source.error),
                         ("notes", "p:notes", None))
        result = await self.manager.mmap_application_scope(**source.mmap_kwargs,
                                                           config=source.config)
        self.assertEqual((result.status, result.scope_id, result.records),
                         ("mapped", "p:notes", 1))
        shown = await self.manager.show(self.repo)
        self.assertEqual([row.include_globs for row in shown.sources], [["*.c"], ["*.txt"]])
        self.assertEqual(shown.raw, fixture.MAP)
        write(self.repo, ".colony/repo_map.yaml", "schema_version: 1\nsources: 3\n")
        wrong = await self.manager.check(self.repo)
        self.assertFalse(wrong.ok)
        self.assertEqual((wrong.errors[0].line, wrong.errors[0].where), (2, "sources"))
        await self.fails("INVALID_REPO_MAP", self.manager.preview(self.repo))

    async def test_a_repository_is_set_up_and_literature_promoted(self):
        git(self.repo, "config", "user.name", "A")
        git(self.repo, "config", "user.email", "a@example.org")
        git(self.repo, "rm", "-qr", ".colony")
        write(self.repo, "papers/a.md", "# Whales\n\nThey sing.\n")
        commit(self.repo)
        author = "A <a@example.org>"
        dry = await self.manager.init(self.repo, author=author, lfs=False, push=False,
                                      dry_run=True)
        self.assertEqual((dry.committed_sha, dry.dry_run), (None, True))
        done = await self.manager.init(self.repo, author=author, lfs=False, push=False)
        self.assertEqual(done.status, "initialized")
        self.assertIn(".colony/repo_map.yaml", done.files_created)
        again = await self.manager.init(self.repo, author=author, lfs=False, push=False)
        self.assertEqual(again.status, "already_initialized")
        planned = await self.manager.promote(self.repo, ["papers/*.md"], dry_run=True)
        self.assertEqual((planned.commit, planned.files), (None, 1))
        promoted = await self.manager.promote(self.repo, ["papers/*.md"])
        self.assertTrue(promoted.changed)
        self.assertEqual(promoted.text, planned.text)
        self.assertIn("papers/*.md", promoted.text)

    async def test_files_in_lfs(self):
        def lfs(*arguments):
            environment = {**os.environ, "HOME": self.folder}
            subprocess.run(["git", "-C", self.repo, *arguments], check=True, env=environment,
                           stdout=subprocess.DEVNULL)
        lfs("lfs", "install", "--local")
        lfs("lfs", "track", "*.bin")
        write(self.repo, "big.bin", "content of a large file\n")
        commit(self.repo)
        status = await self.manager.lfs_status(self.repo)
        self.assertEqual([(f.path, f.size, f.present) for f in status.files],
                         [("big.bin", 24, True)])
        self.assertEqual((status.count, status.missing, status.lfs_mode), (1, 0, "same_remote"))
        await self.map()
        pulled = await self.manager.lfs_pull(COLONY)
        self.assertEqual((pulled.files, pulled.missing, pulled.error), ([], 0, None))

    async def test_a_repository_is_fetched_and_described(self):
        found = await self.manager.repo_fetch(self.repo)
        self.assertEqual(len(found.commit), 40)
        self.assertTrue(found.signals["has_code"])
        self.assertIsNone(found.readme)
        await self.fails("NOT_FOUND", self.manager.repo_fetch(os.path.join(self.folder, "none")))


if __name__ == "__main__":
    fixture.main()
