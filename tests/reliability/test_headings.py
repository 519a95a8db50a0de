"""The heading of a part is there whatever became of the parts before it."""

import os
import shutil

import paging

PARTS_MIN = 6


class Headings(paging.PagingTest):
    def setUp(self):
        super().setUp()
        body = "".join(f"    call({number});\n" for number in range(8000))
        self.repo = self.make_repo({"long.c": f"int long_function(void)\n{{\n{body}}}\n"})
        self.map(self.repo, "--scope", "sample")
        self.listed = self.pages("--scope", "sample")
        self.assertGreater(len(self.listed), PARTS_MIN)

    def states(self):
        return [page["state"] for page in self.pages("--scope", "sample")]

    def test_a_resident_page_opens_though_the_pages_before_it_cannot_be_rebuilt(self):
        last = self.listed[-1]["page_id"]
        expected = self.page(last)
        self.assertEqual(expected["records"][0]["heading"], "int long_function(void)")
        others = [page["page_id"] for page in self.listed[:-1]]
        self.vcm("evict", *others, "--to", "evicted", check=0)
        shutil.rmtree(self.repo)
        self.assertEqual(self.states(), ["evicted"] * len(others) + ["resident"])
        self.assertEqual(self.page(last), expected)
        for form in ("text", "markdown", "xml"):
            self.assertIn("int long_function(void)",
                          self.vcm("page", last, "--format", form, check=0).out)
        self.vcm("page", others[0], check=1)

    def test_reading_a_resident_page_reads_no_other(self):
        last = self.listed[-1]["page_id"]
        self.vcm("evict", *(page["page_id"] for page in self.listed[:-1]), "--to", "evicted", check=0)
        objects = os.path.join(self.repo, ".git", "objects")
        os.rename(objects, objects + ".gone")
        before = self.stat()["faults"]
        self.page(last)
        after = self.stat()["faults"]
        self.assertEqual({**after, "hit": after["hit"] - 1}, before)
        self.assertEqual(self.states()[:-1], ["evicted"] * (len(self.listed) - 1))
