"""vcm page in its formats: for a model to read, and to be taken apart again."""

import random
import re
import xml.etree.ElementTree

import paging

SEED = 11


def heading_of(text, start_line):
    """The function around a line of long_code(), or None: of its first line, and outside of all."""
    lines = text.split("\n")
    if lines[start_line - 1][:1] not in (" ", "{", "}"):
        return None
    for line in reversed(lines[:start_line - 1]):
        if line.startswith("static"):
            return line
        if line.startswith("}"):
            return None
    return None


def read_plain(text):
    """(path, place, heading, content) of each record of the format text."""
    records = []
    lines = text.split("\n")
    while lines != [""]:
        fence, path, place = re.fullmatch(r"(={8,}) (.*) \((.*)\)", lines.pop(0)).groups()
        heading = None
        if lines[0].startswith(fence + " in "):
            heading = lines.pop(0)[len(fence) + 4:]
        end = lines.index(fence)
        content = "".join(line + "\n" for line in lines[:end])
        if place.endswith("no newline at end"):
            content = content[:-1]
        records.append((path, place, heading, content))
        lines = lines[end + 1:]
    return records


class Formats(paging.PagingTest):
    def setUp(self):
        super().setUp()
        random.seed(SEED)
        self.files = {
            "src/long.c": self.long_code(), "src/fences.md": "```\n======== x (lines 1-2)\n````\n",
            "src/a&b<c>.txt": "<text> & </text>\r\nlast line", "empty": "",
            "wide.txt": "x" * 40000 + "\n_y = 1\n  z\n"}
        self.repo = self.make_repo(self.files)
        self.map(self.repo, "--scope", "sample")

    @staticmethod
    def long_code():
        lines = []
        for number in range(900):
            lines.append(f"static int function_{number}(void)")
            lines.append("{")
            lines.extend(f"    call({n});" for n in range(random.randrange(12)))
            lines.append("}\n")
        for number in range(900, 903):
            lines.append(f"static int function_{number}(void)")
            lines.append("{")
            lines.extend(f"    call({n});" for n in range(1500))
            lines.append("}\n")
        lines += ["    many();"] * 4000
        return "\n".join(lines) + "\n"

    def all_pages(self):
        for entry in self.pages("--scope", "sample"):
            yield (entry["page_id"], "--scope", "sample", "--seq", str(entry["seq"]))

    def test_text_gives_every_record_back(self):
        parts = 0
        for args in self.all_pages():
            document = self.page(*args)
            plain = self.vcm("page", *args, check=0).out_bytes.decode()
            records = read_plain(plain)
            self.assertEqual([(path, heading, content) for path, _, heading, content in records],
                             [(r["path"], r["heading"], r["text"]) for r in document["records"]])
            for record, (_, place, _, _) in zip(document["records"], records):
                if record["text"]:
                    lines = f"lines {record['start_line']}-{record['end_line']}"
                    self.assertTrue(place.startswith(lines), place)
                parts += record["part"] > 1
        self.assertGreater(parts, 10)

    def test_a_later_part_stands_under_the_function_around_it(self):
        headings = []
        for args in self.all_pages():
            for record in self.page(*args)["records"]:
                code = record["part"] > 1 and record["path"].endswith(".c")
                expected = heading_of(self.files[record["path"]], record["start_line"]) if code else None
                self.assertEqual(record["heading"], expected, record["path"])
                headings.append(expected)
        self.assertGreater(sum(heading is not None for heading in headings), 2)

    def test_a_remap_keeps_the_headings_of_what_did_not_change(self):
        def headings():
            return {(r["path"], r["start_line"]): r["heading"] for args in self.all_pages()
                    for r in self.page(*args)["records"] if r["path"] == "src/long.c"}
        before = headings()
        self.commit(self.repo, {"src/new.c": "int x;\n"})
        self.assertEqual(self.map(self.repo, "--scope", "sample")["status"], "mapped")
        self.assertEqual(headings(), before)

    def test_headings_are_those_of_pages_that_are_not_resident_too(self):
        expected = {args: self.page(*args) for args in self.all_pages()}
        self.vcm("unmap", "sample", check=0)
        self.vcm("config", "set", "cache.capacity", "32KiB", check=0)
        self.vcm("config", "set", "cache.compressed_capacity", "4KiB", check=0)
        self.map(self.repo, "--scope", "sample")
        states = {entry["state"] for entry in self.pages("--scope", "sample")}
        self.assertEqual(states, {"resident", "compressed", "evicted"})
        for args, document in expected.items():
            self.assertEqual(self.page(*args), document)

    def test_xml_gives_every_record_back(self):
        for args in self.all_pages():
            document = self.page(*args)
            root = xml.etree.ElementTree.fromstring(
                self.vcm("page", *args, "--format", "xml", check=0).out_bytes)
            self.assertEqual((root.get("id"), root.get("scope"), root.get("seq")),
                             (document["page_id"], "sample", str(document["seq"])))
            self.assertEqual(
                [(r.get("path"), r.get("start_line"), r.findtext("heading"), r.findtext("text"))
                 for r in root],
                [(r["path"], str(r["start_line"]), r["heading"], r["text"])
                 for r in document["records"]])

    def test_markdown_has_a_fence_longer_than_any_in_the_content(self):
        page = self.vcm("find", "src/fences.md", "--json").json()["pages"][0]["page_id"]
        text = self.vcm("page", page, "--format", "markdown", check=0).out
        self.assertIn("## `src/fences.md` (lines 1-3)\n\n`````md\n```\n", text)
        self.assertIn("````\n`````\n", text)

    def test_lines_are_numbered_as_in_the_file(self):
        for args in self.all_pages():
            document = self.page(*args)
            records = read_plain(self.vcm("page", *args, "--lines", check=0).out_bytes.decode())
            for record, (_, _, _, content) in zip(document["records"], records):
                numbers = []
                plain = ""
                for line in content.split("\n"):
                    if line:
                        number, rest = line.split("\t", 1)
                        numbers.append(int(number))
                        plain += rest + "\n"
                if not record["text"].endswith("\n"):
                    plain = plain[:-1]
                self.assertEqual(plain, record["text"])
                if numbers:
                    self.assertEqual(numbers, list(range(record["start_line"],
                                                         record["end_line"] + 1)))

    def test_the_bytes_are_the_same_every_time(self):
        for args in list(self.all_pages())[:4]:
            for form in ("text", "markdown", "xml", "json"):
                runs = [self.vcm("page", *args, "--format", form, check=0).out_bytes
                        for _ in range(2)]
                self.assertEqual(runs[0], runs[1])
            self.assertEqual(self.vcm("page", *args, "--format", "json").out_bytes,
                             self.vcm("page", *args, "--json").out_bytes)

    def test_rendered_tokens_are_those_of_what_is_printed(self):
        for args in list(self.all_pages())[:4]:
            for form in ("text", "markdown", "xml"):
                for more in ([], ["--lines"]):
                    words = ("page", *args, "--format", form, *more)
                    printed = self.vcm(*words, check=0).out_bytes
                    counted = self.vcm("tokens", "--json", "--encoding", "approx4", input=printed,
                                       check=0).json()["total"]
                    self.assertEqual(self.vcm(*words, "--json", check=0).json()["rendered_tokens"],
                                     counted)
            self.assertIsNone(self.vcm("page", *args, "--json",
                                       check=0).json()["rendered_tokens"])

    def test_a_terminal_gets_no_control_characters_of_a_file(self):
        repo = self.make_repo({"evil": "a\x1b]0;owned\x07b\n" + "c" * 9000 + "\0d\n"}, name="evil")
        self.map(repo, "--scope", "evil-one")
        page = self.pages("--scope", "evil-one")[-1]["page_id"]
        shown = self.vcm("page", page, tty="out", check=0).out
        self.assertNotIn("\x1b", shown)
        self.assertIn("?d", shown)
