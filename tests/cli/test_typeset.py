"""Papers that a typesetter made: what went in comes out of the PDF, word for word and in order, with
headings and pages, without running heads, divided words and ligatures."""

import subprocess

from repo_map import RepoMapTest, map_of

ROW = "name: papers, type: literature, chunk_target_tokens: 120, chunk_overlap_tokens: 0"
TITLE = "An Efficient Classification of Fluctuating Workloads"
SECTIONS = [
    (1, "Introduction", """
The office of the operating system is the efficient distribution of insufficient storage. A workload that
fluctuates is difficult to classify, because its reflection in the reference string is affected by
modifications of the configuration. Definitions that suffice for stationary behaviour are inflexible, and
the identification of specific influences remains unsatisfactory.
"""),
    (2, "Terminology", """
We define a classification as a finite partition of the references, and we call it efficient when its
maintenance is inexpensive. A well-known difficulty is the overflow of counters; a first remedy is the
exponentially decreasing representation of the past, which several implementations prefer. Its
justification is mathematical, but its verification is experimental and therefore insufficiently
documented.
"""),
    (1, "Measurements", """
Measurements on sixteen configurations confirm the hypothesis. The simulation environment reproduces the
instrumentation of the production machines with sufficient fidelity, and the fluctuation of individual
observations is smaller than the systematic differences. Unfortunately the infrastructure of the laboratory
was reorganised, so that the final experiments could not be repeated under identical circumstances.
Affected observations are identified in the accompanying documentation.
"""),
    (2, "Interpretation", """
The interpretation follows from the characteristics of the replacement algorithm. Neighbouring references
are classified together, and reclassification is infrequent. The benefits are significant whenever the
configuration is modified in the background; they are negligible for computations with a fixed and
predictable structure. A straightforward generalisation to hierarchical memories is in preparation.
"""),
    (1, "Conclusion", """
Classification is worthwhile. It is inexpensive, its configuration is simple, and its influence on the
remaining components of the operating system is insignificant. Further investigations should concentrate
on distributed installations, where communication dominates computation.
"""),
]
REPEATS = 9  # of each paragraph, so that there are pages


def paragraphs(text):
    return [f"Remark {chr(ord('a') + i)} of {REPEATS}: {text.strip()}" for i in range(REPEATS)]


def source(columns):
    """The paper for groff -ms, with heads and feet on every page."""
    lines = [".ds LH Journal of Storage", ".ds RH Volume 7", ".ds CF - \\\\n[PN] -", ".ds CH",
             ".nr PS 10", ".nr VS 12", ".TL", TITLE] + ([".2C"] if columns == 2 else [])
    for level, heading, text in SECTIONS:
        lines += [f".NH {level}", heading]
        for paragraph in paragraphs(text):
            lines += [".PP", paragraph]
    return "\n".join(lines) + "\n"


def groff(text, *options):
    return subprocess.run(["groff", "-ms", *options], input=text.encode(), stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, check=True).stdout


class Typeset(RepoMapTest):
    def setUp(self):
        super().setUp()
        self.numbers = []
        chapter = section = 0
        for level, heading, _ in SECTIONS:
            chapter, section = (chapter + 1, 0) if level == 1 else (chapter, section + 1)
            self.numbers.append(f"{chapter}." if level == 1 else f"{chapter}.{section}.")

    def records(self, columns):
        repo = self.repo_with(map_of(ROW), {"paper.pdf": groff(source(columns), "-Tpdf")},
                              name=f"columns{columns}")
        scope = self.report("map", repo)["sources"][0]["scope_id"]
        pages = self.vcm("pages", "--scope", scope, "--json", check=0).json()["pages"]
        return [record for page in pages for record in self.page(page["page_id"])["records"]]

    def expected_words(self):
        words = TITLE.split()
        for number, (_, heading, text) in zip(self.numbers, SECTIONS):
            words += [number, *heading.split(), *" ".join(paragraphs(text)).split()]
        return words

    def check_paper(self, columns):
        typeset = groff(source(columns), "-Tpdf", "-Z").decode("latin-1")
        for glyph in ("Cfi", "Cfl", "hy"):
            self.assertIn(glyph, typeset, "the typesetter used no such glyph")
        records = self.records(columns)
        text = "".join(record["text"] for record in records)
        self.assertEqual(text.split(), self.expected_words())
        self.assertTrue(text.isascii(), "a ligature or an odd character is left")
        sections = list(dict.fromkeys(record["section"] for record in records))
        titles = [f"{number} {heading}" for number, (_, heading, _) in zip(self.numbers, SECTIONS)]
        self.assertEqual(sections, [
            f"{TITLE} > {titles[0]}", f"{TITLE} > {titles[0]} > {titles[1]}",
            f"{TITLE} > {titles[2]}", f"{TITLE} > {titles[2]} > {titles[3]}",
            f"{TITLE} > {titles[4]}"])
        pages = [record["page"] for record in records]
        self.assertEqual(pages, sorted(pages))
        self.assertEqual(set(pages), set(range(1, max(pages) + 1)))
        self.assertGreaterEqual(max(pages), 3)

    def test_a_paper_in_one_column_comes_back_word_for_word(self):
        self.check_paper(1)

    def test_a_paper_in_two_columns_comes_back_word_for_word(self):
        self.check_paper(2)
