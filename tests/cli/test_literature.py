"""Literature rows: documents as chunks of prose in pages, with section and page."""

import hashlib
import os
import sqlite3
import subprocess
import sys

import pdf
from paging import content_hash, stringify
from repo_map import MAP, RepoMapTest, map_of

ROW = "name: papers, type: literature, start_dir: papers, chunk_target_tokens: 60, " \
      "chunk_overlap_tokens: 12"
PAPER = [
    [("F2", 18, 72, 720, "On Virtual Memory"), ("F2", 12, 72, 690, "1 Introduction"),
     *pdf.prose("A page fault brings a page back from the disk. " * 12, top=670)],
    [("F2", 12, 72, 720, "2 Replacement"),
     *pdf.prose("The clock hand sweeps over the frames and evicts what was not used.", top=700)],
]
NOTES = "# Notes\n\nFirst words.\n\n## Second\n\n" + "".join(
    f"Sentence {i} makes a long section.\n" for i in range(60))
FILES = {"papers/paper.pdf": pdf.make(PAPER), "papers/notes.md": NOTES,
         "papers/short.txt": "short\n", "papers/code.c": "int x;\n", "other.md": "# Other\n"}


def value_of(record):
    """A record's value, from its description."""
    page = f',"page":{record["page"]}' if record["page"] is not None else ""
    return (f'{{"path":{stringify(record["path"])},"section":{stringify(record["section"])}{page},'
            f'"text":{stringify(record["text"])}}}').encode()


class Literature(RepoMapTest):
    def map_row(self, repo, *args, check=0):
        return self.report("map", repo, *args, check=check)["sources"][0]

    def records(self, **options):
        pages = [self.page(page["page_id"], **options) for page in self.pages()]
        for page in pages:
            frame = b"".join(value_of(record) + b"\n" for record in page["records"])
            self.assertEqual(page["page_id"], content_hash(b"vcm-page 1\n", frame))
            self.assertLessEqual(page["tokens"], 4096)
        return [record for page in pages for record in page["records"]]

    def of(self, path):
        return [record for record in self.records() if record["path"] == path]

    def test_documents_are_mapped_and_the_rest_is_excluded(self):
        repo = self.repo_with(map_of(ROW), FILES)
        row = self.map_row(repo)
        self.assertEqual(row["status"], "mapped")
        coverage = row["coverage"]
        self.assertEqual((coverage["tracked"], coverage["paged"], coverage["excluded"]), (4, 3, 1))
        records = self.records()
        self.assertEqual(len(records), row["records"])
        self.assertEqual({record["path"] for record in records},
                         {"papers/paper.pdf", "papers/notes.md", "papers/short.txt"})
        self.assertTrue(all(0 < record["tokens"] <= 60 for record in records))
        self.assertEqual(self.map_row(repo)["status"], "already_mapped")
        self.vcm("verify", check=0)

    def test_a_chunk_of_a_pdf_has_section_and_page(self):
        self.map_row(self.repo_with(map_of(ROW), FILES))
        records = self.of("papers/paper.pdf")
        self.assertGreater(len(records), 2)
        last = records[-1]
        self.assertEqual((last["section"], last["page"], last["text"]), (
            "On Virtual Memory > 2 Replacement", 2,
            "2 Replacement\n\nThe clock hand sweeps over the frames and evicts what was not used.\n"))
        self.assertEqual([record["part"] for record in records], list(range(1, len(records) + 1)))
        self.assertEqual({record["parts"] for record in records}, {len(records)})
        self.assertEqual((last["start_line"], last["end_line"]), (0, 0))
        page = self.report("find", "papers/paper.pdf")["pages"][-1]["page_id"]
        text = self.vcm("page", page, check=0).out
        self.assertIn("papers/paper.pdf (page 2, part", text)
        self.assertIn("= in On Virtual Memory > 2 Replacement\n", text)
        xml = self.vcm("page", page, "--format", "xml", check=0).out
        self.assertIn('page="2" section="On Virtual Memory &gt; 2 Replacement"', xml)

    def test_a_text_comes_back_whole_with_its_lines(self):
        self.map_row(self.repo_with(map_of(ROW), FILES))
        records = self.of("papers/notes.md")
        lines, end = NOTES.splitlines(keepends=True), 0
        for record in records:
            self.assertEqual(NOTES.count(record["text"]), 1)
            begin = NOTES.index(record["text"])
            self.assertLessEqual(begin, end)
            self.assertEqual(record["text"], "".join(
                lines[record["start_line"] - 1:record["end_line"]]))
            end = begin + len(record["text"])
        self.assertEqual(end, len(NOTES))
        self.assertEqual(records[0]["section"], "Notes")
        self.assertEqual(records[-1]["section"], "Notes > Second")
        self.assertIsNone(records[0]["page"])
        found = self.report("find", "papers/notes.md:30")["pages"]
        self.assertTrue(found)

    def test_a_document_that_cannot_be_read_is_failed_with_its_reason(self):
        repo = self.repo_with(map_of(ROW), {
            **FILES, "papers/bad.pdf": pdf.make(PAPER)[:300], "papers/empty.txt": "",
            "papers/locked.pdf": pdf.make(PAPER, encrypted=True),
            "papers/image.pdf": pdf.make([[], []])})
        row = self.map_row(repo, check=3)
        self.assertEqual((row["status"], row["coverage"]["failed"], row["coverage"]["paged"]),
                         ("mapped", 4, 3))
        failed = {entry["path"]: entry["reason"] for entry in
                  self.report("coverage", row["scope_id"], "--reason", "failed")["files"]}
        self.assertEqual(failed, {"papers/bad.pdf": "corrupt", "papers/empty.txt": "empty",
                                  "papers/locked.pdf": "encrypted",
                                  "papers/image.pdf": "no text layer"})
        self.assertEqual(self.map_row(repo, check=3)["status"], "already_mapped")

    def test_pages_that_went_are_made_again_from_the_documents(self):
        self.map_row(self.repo_with(map_of(ROW), FILES))
        before = self.records()
        self.vcm("evict", "--all", "--to", "evicted", check=0)
        self.vcm("verify", "--deep", check=0)
        self.assertEqual(self.records(), before)
        # Without the texts that were kept, the documents are read once more.
        self.vcm("evict", "--all", "--to", "evicted", check=0)
        os.unlink(os.path.join(self.home, "kb.sqlite"))
        self.assertEqual(self.records(), before)

    def test_the_pages_do_not_depend_on_workers_or_the_past(self):
        repo = self.repo_with(map_of(ROW), {"papers/a.md": "# A\n\nAlone.\n"})
        self.map_row(repo)
        self.commit(repo, FILES)
        grown = self.map_row(repo, "--jobs", "2")
        self.assertEqual(grown["status"], "remapped")
        ids = [page["page_id"] for page in self.pages()]
        self.vcm("unmap", grown["scope_id"], check=0)
        self.map_row(repo, "--jobs", "1")
        self.assertEqual([page["page_id"] for page in self.pages()], ids)

    def test_another_target_makes_other_pages(self):
        repo = self.repo_with(map_of(ROW), FILES)
        before = self.map_row(repo)
        self.commit(repo, {MAP: map_of(ROW.replace("60", "200"))})
        after = self.map_row(repo)
        self.assertEqual(after["status"], "remapped")
        self.assertLess(after["records"], before["records"])

    def test_a_pdf_is_extracted_once_for_pages_and_knowledge_base(self):
        repo = self.repo_with(map_of(ROW), FILES)
        self.map_row(repo)
        program = {"VCM_LIBEXEC": os.path.join(self.tmp, "nowhere")}
        self.commit(repo, {MAP: map_of(ROW, routes=["paths: ['papers/*.pdf']"])})
        result = self.report("map", repo, env=program)
        self.assertEqual(result["knowledge"]["ingested"], 1)
        chunks = {hit["chunk_id"] for hit in
                  self.report_kb("search", "page", "--limit", "100")["hits"]}
        self.assertLessEqual(chunks, {record["record_id"] for record in self.records()})
        self.assertEqual(self.texts(), 1)

    def test_a_text_is_kept_while_a_scope_refers_to_it(self):
        repo = self.repo_with(map_of(ROW, routes=["paths: ['papers/']"]), FILES)
        row = self.map_row(repo)
        self.report_kb("clear", "--all")
        self.assertEqual(self.texts(), 1)
        self.vcm("unmap", row["scope_id"], check=0)
        self.assertEqual(self.texts(), 0)
        self.map_row(repo)
        self.report_kb("clear", "--all")
        self.commit(repo, {MAP: map_of("name: other, type: git_repo")})
        self.assertEqual(self.report("map", repo)["unmapped"], [row["scope_id"]])
        self.assertEqual(self.texts(), 0)

    def test_the_text_of_a_changed_document_goes_when_the_new_one_is_in_force(self):
        repo = self.repo_with(map_of(ROW), FILES)
        self.map_row(repo)
        old = self.contents()
        changed = pdf.make([*PAPER, pdf.prose("One more page.")])
        self.commit(repo, {"papers/paper.pdf": changed})
        self.assertEqual(self.map_row(repo)["status"], "remapped")
        new = self.contents()
        self.assertEqual((len(old), len(new)), (1, 1))
        self.assertNotEqual(old, new)
        os.rename(os.path.join(repo, "papers/paper.pdf"), os.path.join(repo, "papers/moved.pdf"))
        self.commit(repo, {"papers/short.txt": "other\n"})
        self.map_row(repo)
        self.assertEqual(self.contents(), new)
        self.vcm("evict", "--all", "--to", "evicted", check=0)
        self.assertTrue(self.of("papers/moved.pdf"))
        self.assertEqual(self.contents(), new)

        os.remove(os.path.join(repo, "papers/moved.pdf"))
        self.commit(repo, {"papers/short.txt": "third\n"})
        self.map_row(repo)
        self.assertEqual(self.contents(), [])

    def test_a_pdf_kept_in_lfs_is_read_where_it_is_and_told_where_it_is_not(self):
        content = FILES["papers/paper.pdf"]
        oid = hashlib.sha256(content).hexdigest()
        pointer = (f"version https://git-lfs.github.com/spec/v1\noid sha256:{oid}\n"
                   f"size {len(content)}\n")
        repo = self.repo_with(map_of(ROW), {**FILES, "papers/paper.pdf": pointer})
        coverage = self.map_row(repo)["coverage"]
        self.assertEqual((coverage["paged"], coverage["lfs_missing"]), (2, 1))
        self.write(repo, {f".git/lfs/objects/{oid[:2]}/{oid[2:4]}/{oid}": content})
        row = self.map_row(repo)
        self.assertEqual((row["status"], row["coverage"]["paged"]), ("remapped", 3))
        expected = self.of("papers/paper.pdf")
        self.assertEqual(expected[-1]["page"], 2)
        self.assertEqual(len(self.contents()), 1)
        self.vcm("evict", "--all", "--to", "evicted", check=0)
        program = {"VCM_LIBEXEC": os.path.join(self.tmp, "nowhere")}
        again = [record for record in self.records(env=program)
                 if record["path"] == "papers/paper.pdf"]
        self.assertEqual([record["text"] for record in again],
                         [record["text"] for record in expected])

    def test_an_old_text_stays_for_another_scope_and_for_the_knowledge_base(self):
        repo = self.repo_with(map_of(ROW, routes=["paths: ['papers/']"]), FILES)
        first = self.report("map", repo, "--scope", "first")["sources"][0]
        old = self.contents()
        self.commit(repo, {"papers/paper.pdf": pdf.make([pdf.prose("All new.")])})
        self.report("map", repo, "--scope", "second")
        new = [content for content in self.contents() if content not in old]
        self.assertEqual(len(new), 1)
        self.assertEqual(len(self.contents()), 2)
        self.vcm("unmap", first["scope_id"], check=0)
        self.assertEqual(len(self.contents()), 2)
        self.report_kb("clear", "--all")
        self.assertEqual(self.contents(), new)

    def test_gc_drops_what_a_killed_run_left(self):
        repo = self.repo_with(map_of(ROW), FILES)
        self.map_row(repo)
        kept = self.contents()
        self.change("INSERT INTO extractions (content, version, document) VALUES (x'0102', 1, 'x'),"
                 " (x'0304', 1, 'x')")
        self.change("INSERT INTO extraction_uses SELECT scope, x'99', x'0102' FROM extraction_uses")
        self.change("INSERT INTO extraction_uses VALUES ('gone', x'98', x'0304')")
        self.assertEqual(self.texts(), 3)
        self.vcm("gc", check=0)
        self.assertEqual(self.contents(), kept)

    def contents(self):
        return [row[0] for row in self.sql("SELECT content FROM extractions")]

    def sql(self, text):
        base = sqlite3.connect(f"file:{self.home}/kb.sqlite?mode=ro", uri=True)
        rows = base.execute(text).fetchall()
        base.close()
        return rows

    def change(self, text):
        """A change that stays in the log, as one of a killed vcm does: only vcm puts checksums into
        the file."""
        path = os.path.join(self.home, "kb.sqlite")
        subprocess.run([sys.executable, "-c", "import os, sqlite3, sys\n"
                        "base = sqlite3.connect(sys.argv[1])\n"
                        "base.execute(sys.argv[2])\nbase.commit()\nos._exit(0)", path, text],
                       check=True)

    def texts(self):
        return self.sql("SELECT count(*) FROM extractions")[0][0]

    def report_kb(self, *args):
        return self.vcm("kb", *args, "--json", check=0).json()
