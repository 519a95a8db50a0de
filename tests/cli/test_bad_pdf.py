"""Hostile and broken PDFs: each is read or refused with its reason, within its limits, and costs nobody
else anything."""

import os
import random
import resource
import time

import bad_pdf
import harness
import pdf
from test_kb import Kb

GOOD = pdf.make([pdf.prose("Plain words that are always found. " * 8) for _ in range(5)])


class BadPdf(Kb):
    def outcome(self, documents, **popen):
        """What became of each document; the good one at the end is always read."""
        self.write(self.tmp, {f"{name}.pdf": content for name, content in documents.items()})
        self.write(self.tmp, {"good.txt": "good words"})
        run = self.start("kb", "ingest", "--json", *(f"{name}.pdf" for name in documents), "good.txt",
                         **popen)
        out, err = run.communicate(timeout=harness.TIMEOUT_SECONDS)
        result = harness.Result(["kb", "ingest"], run.returncode, out, err)
        self.assert_no_crash(result)
        files = {os.path.basename(file["path"]): file for file in result.json()["files"]}
        self.assertEqual(files.pop("good.txt")["status"], "ingested")
        return {name[:-4]: file["status"] if file["status"] == "ingested"
                else file["message"].split(":")[0] for name, file in files.items()}

    def texts(self, query="words OR alert"):
        return " ".join(hit["text"] for hit in self.kb("search", query, "--limit", "100")["hits"])

    def test_what_is_no_document_is_refused_with_its_reason(self):
        expected = {
            "empty": (b"", "empty"),
            "text": (b"a text file with another name\n", "corrupt"),
            "header_alone": (b"%PDF-1.7\n", "corrupt"),
            "no_objects": (b"%PDF-1.7\n" + bytes(range(256)) * 40, "corrupt"),
            "encrypted": (pdf.make([pdf.prose("secret")], encrypted=True), "encrypted"),
            "image": (bad_pdf.image_only(), "no text layer"),
            "blank": (pdf.make([[], []]), "no text layer"),
            "tree_of_nothing": (pdf.assemble([b"<< /Type /Catalog /Pages 1 0 R >>"]), "corrupt"),
        }
        got = self.outcome({name: content for name, (content, _) in expected.items()})
        self.assertEqual(got, {name: reason for name, (_, reason) in expected.items()})

    def test_pages_of_nothing_have_an_end(self):
        got = self.outcome({"many": bad_pdf.many_pages(100000),
                            "few": bad_pdf.many_pages(300),
                            "claimed": bad_pdf.claimed_pages(100000),
                            "claimed_all": bad_pdf.claimed_pages(2 ** 31 - 1)})
        self.assertEqual(got["many"], "over the limits")
        self.assertEqual(got["few"], "no text layer")
        self.assertIn(got["claimed"], ("over the limits", "corrupt", "ingested"))
        self.assertIn(got["claimed_all"], ("over the limits", "corrupt", "ingested"))

    def test_a_document_that_was_cut_short_is_read_as_far_as_it_goes_or_refused(self):
        documents = {f"cut{part}": GOOD[:len(GOOD) * part // 10] for part in range(1, 10)}
        got = self.outcome(documents)
        self.assertEqual(got["cut1"], "corrupt")
        for name, status in got.items():
            self.assertIn(status, ("corrupt", "no text layer", "ingested"), name)

    def test_recursive_objects_have_an_end(self):
        got = self.outcome({"page_tree": bad_pdf.page_tree_loop(), "form": bad_pdf.form_loop(),
                            "references": bad_pdf.reference_loops(),
                            "deep": bad_pdf.deep_arrays()})
        for name, status in got.items():
            self.assertIn(status, ("corrupt", "no text layer", "over the limits", "ingested"), name)
        self.assertEqual(got["form"], "ingested")

    def test_broken_fonts_cost_no_more_than_their_text(self):
        rubbish = random.Random(5).randbytes(3000)
        got = self.outcome({"rubbish": bad_pdf.broken_font(rubbish),
                            "cut": bad_pdf.broken_font(b"\0\1\0\0\0\xff" + rubbish),
                            "no_program": bad_pdf.broken_font(b""),
                            "odd": bad_pdf.odd_fonts()})
        for name, status in got.items():
            self.assertIn(status, ("corrupt", "no text layer", "ingested"), name)
        self.assertEqual(got["odd"], "ingested")
        self.assertIn("Words to be found", self.texts())

    def test_scripts_and_attachments_are_ignored(self):
        self.assertEqual(self.outcome({"extras": bad_pdf.with_extras()}), {"extras": "ingested"})
        text = self.texts()
        self.assertIn("Words to be found", text)
        for word in ("alert", "scripted", "attached", "secret", "bin/sh"):
            self.assertNotIn(word, text)

    def test_a_bomb_is_stopped_by_the_limits_of_its_reader(self):
        """4 GiB in a few hundred bytes. The reader has its own bounds on time (20 s) and memory; the test
        lowers that on time for everything that it starts."""
        bombs = {"spaces": bad_pdf.bomb(), "font": bad_pdf.font_bomb()}
        for name, content in bombs.items():
            self.assertLess(len(content), 20000, name)
        start = time.monotonic()
        got = self.outcome(bombs, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (2, 2)))
        self.assertLess(time.monotonic() - start, 60)
        for name, status in got.items():
            self.assertIn(status, ("over the limits", "corrupt", "no text layer", "ingested"), name)
        self.assertEqual(got["spaces"], "over the limits")
        self.assertEqual(self.paths("good"), [os.path.join(self.tmp, "good.txt")])
