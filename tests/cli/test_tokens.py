"""vcm tokens: what is counted, in which form, and what becomes of files that cannot be read."""

import os
import subprocess
import unittest

import harness

ENCODINGS = ["o200k_base", "cl100k_base", "approx4"]
SOURCE_ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TEXTS = {
    "prose.txt": "It's a truth universally acknowledged, that he'LL want 1234567 things.\n",
    "code.c": "int main(void)\n{\n    return   0; /* \t tab */\r\n}\n\n\n",
    "empty": "",
    "unicode": "na\u00efve \u4f60\u597d\u4e16\u754c \U0001f469\u200d\U0001f52c e\u0301 \u0085 end",
    "special": "<|endoftext|> and <|fim_prefix|> are plain text",
    "spaces": " " * 300 + "x" + "\n" * 50,
    "bad": b"ok \xff\xfe then \xe2\x82 cut \xf0\x9f\x98",
    "nul": b"a\0b\0\0c",
}
COUNT_WITH_TIKTOKEN = """
import {readFileSync} from 'node:fs';
import {createRequire} from 'node:module';
const {get_encoding} = createRequire(process.argv[1] + '/x.js')('tiktoken');
const [encoding, ...paths] = process.argv.slice(2);
const encoder = get_encoding(encoding);
const decoder = new TextDecoder('utf-8', {ignoreBOM: true});
for (const path of paths)
    console.log(encoder.encode(decoder.decode(readFileSync(path)),
                               [], []).length);
"""


class Tokens(harness.VcmTest):
    def setUp(self):
        super().setUp()
        self.write(self.tmp, TEXTS)

    def tokens(self, *args, check=0, **options):
        return self.vcm("tokens", "--json", *args, check=check, **options).json()

    def test_the_document_has_its_keys_in_order(self):
        document = self.tokens("code.c", "prose.txt")
        self.assertEqual(list(document), ["encoding", "files", "total"])
        self.assertEqual(document["encoding"], "o200k_base")
        self.assertEqual([file["path"] for file in document["files"]], ["code.c", "prose.txt"])
        for file in document["files"]:
            self.assertEqual(list(file), ["path", "bytes", "tokens"])
            self.assertEqual(file["bytes"], os.path.getsize(os.path.join(self.tmp, file["path"])))
        self.assertEqual(document["total"], sum(file["tokens"] for file in document["files"]))

    def test_no_file_and_a_dash_are_standard_input(self):
        expected = self.tokens("code.c")["files"][0]
        for args in ([], ["-"]):
            document = self.tokens(*args, input=TEXTS["code.c"])
            self.assertEqual(document["files"], [{**expected, "path": "-"}])
        document = self.tokens("prose.txt", "-", "code.c", input=TEXTS["code.c"])
        self.assertEqual([file["path"] for file in document["files"]],
                         ["prose.txt", "-", "code.c"])
        self.assertEqual(document["files"][1]["tokens"], expected["tokens"])

    def test_standard_input_is_read_once_and_then_empty(self):
        text = "word " * 100000
        for _ in range(3):
            first, second = self.tokens("-", "-", input=text)["files"]
            self.assertEqual((first["bytes"], second["bytes"]), (len(text), 0))

    def test_empty_input_is_nothing(self):
        self.assertEqual(self.tokens(input=""), {
            "encoding": "o200k_base", "files": [{"path": "-", "bytes": 0, "tokens": 0}],
            "total": 0})

    def test_known_counts(self):
        self.write(self.tmp, {"hello": "hello world", "digits": "1234567"})
        counts = {encoding: [file["tokens"] for file in
                             self.tokens("--encoding", encoding, "hello", "digits")["files"]]
                  for encoding in ENCODINGS}
        self.assertEqual(counts, {"o200k_base": [2, 3], "cl100k_base": [2, 3], "approx4": [3, 2]})

    def test_invalid_utf_8_counts_as_its_replacement(self):
        replaced = TEXTS["bad"].decode("utf-8", "replace")
        for encoding in ENCODINGS[:2]:
            bad = self.tokens("--encoding", encoding, "bad")["files"][0]
            good = self.tokens("--encoding", encoding, input=replaced)["files"][0]
            self.assertEqual(bad["tokens"], good["tokens"])
            self.assertEqual(bad["bytes"], len(TEXTS["bad"]))

    def test_every_encoding_agrees_with_tiktoken(self):
        for encoding in ENCODINGS[:2]:
            run = subprocess.run(["node", "--input-type=module", "-e", COUNT_WITH_TIKTOKEN,
                                  SOURCE_ROOT, encoding, *TEXTS], cwd=self.tmp, env=self.env,
                                 capture_output=True, check=False)
            self.assertEqual(run.returncode, 0, run.stderr.decode())
            ours = [file["tokens"] for file in
                    self.tokens("--encoding", encoding, *TEXTS)["files"]]
            self.assertEqual(ours, [int(line) for line in run.stdout.split()], encoding)

    def test_the_configured_tokenizer_is_the_default(self):
        self.vcm("config", "set", "tokenizer", "cl100k_base", check=0)
        self.assertEqual(self.tokens("code.c")["encoding"], "cl100k_base")
        self.assertEqual(self.tokens("code.c", "--encoding", "approx4")["encoding"], "approx4")

    def test_counting_makes_no_home(self):
        self.tokens("code.c")
        self.assertFalse(os.path.exists(self.home))

    def test_an_unknown_encoding_is_wrong_usage(self):
        result = self.vcm("tokens", "--encoding", "p50k_base", "code.c", check=2)
        self.assertEqual(len(result.err.splitlines()), 1)
        for word in ["p50k_base", *ENCODINGS]:
            self.assertIn(word, result.err)
        result = self.vcm("tokens", "--encoding", "", "--json", "code.c", check=2)
        self.assertEqual(result.json()["error"]["code"], "INVALID_ARGUMENT")

    def test_people_see_a_line_for_each_file_and_a_total(self):
        result = self.vcm("tokens", "code.c", "empty", check=0)
        lines = [line.split() for line in result.out.splitlines()]
        total = self.tokens("code.c", "empty")["total"]
        self.assertEqual(lines, [[str(total), "code.c"], ["0", "empty"], [str(total), "total"]])
        self.assertEqual(result.err, "")

    def test_hundreds_of_files_keep_their_order(self):
        names = [f"f{i:03}" for i in range(300)]
        self.write(self.tmp, {name: "x " * int(name[1:]) for name in names})
        files = self.tokens("--encoding", "approx4", *names)["files"]
        self.assertEqual([(file["path"], file["tokens"]) for file in files],
                         [(name, (2 * int(name[1:]) + 3) // 4) for name in names])


class Unreadable(harness.VcmTest):
    def setUp(self):
        super().setUp()
        self.write(self.tmp, {"a": "some words\n", "dir/b": "b\n"})

    def test_a_missing_file_is_told_and_the_rest_is_counted(self):
        result = self.vcm("tokens", "nowhere", "a", "dir", "--json", check=3)
        document = result.json()
        self.assertEqual([file["path"] for file in document["files"]], ["a"])
        self.assertEqual(document["total"], document["files"][0]["tokens"])
        lines = result.err.splitlines()
        self.assertEqual(len(lines), 2, result)
        self.assertEqual([sum(name in line for line in lines) for name in ("'nowhere'", "'dir'")],
                         [1, 1])
        self.assertIn("a\n", self.vcm("tokens", "nowhere", "a", check=3).out)

    def test_each_of_several_missing_files_is_told_once(self):
        result = self.vcm("tokens", "no1", "a", "no2", "no3", check=3)
        self.assertEqual(sorted(line.split("'")[1] for line in result.err.splitlines()),
                         ["no1", "no2", "no3"])

    def test_nothing_but_missing_files_is_a_failure(self):
        result = self.vcm("tokens", "no1", check=1)
        self.assertEqual((result.out, len(result.err.splitlines())), ("", 1), result)
        result = self.vcm("tokens", "no1", "no2", check=1)
        self.assertEqual(sorted(line.split("'")[1] for line in result.err.splitlines()),
                         ["no1", "no2"])
        result = self.vcm("tokens", "no1", "--json", check=1)
        self.assertEqual((result.json()["error"]["code"], result.err), ("NOT_FOUND", ""))

    def test_a_directory_is_no_file(self):
        result = self.vcm("tokens", "dir", "--json", check=1)
        self.assertEqual(result.json()["error"]["code"], "IO_ERROR")
        self.assertIn("'dir'", result.json()["error"]["message"])

    @unittest.skipIf(os.geteuid() == 0, "root reads everything")
    def test_a_file_without_permission_is_told(self):
        os.chmod(os.path.join(self.tmp, "a"), 0)
        self.assertIn("'a'", self.vcm("tokens", "a", "dir/b", check=3).err)

    def test_names_are_shown_without_control_characters(self):
        self.write(self.tmp, {"e\x1b[31mvil": "x\n"})
        result = self.vcm("tokens", "e\x1b[31mvil", "n\x1bo", check=3)
        self.assertNotIn("\x1b", result.out + result.err)

    def test_a_large_file_takes_little_memory(self):
        block = b"    return foo(bar, 0x1234); /* comment */\n" * 25000
        with open(os.path.join(self.tmp, "large"), "wb") as file:
            for _ in range(64):
                file.write(block)
        run = self.start("tokens", "--json", "large", stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(run.pid, 0)
        run.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(run.returncode, 0)
        # In KiB; what Python itself has at the fork counts too.
        self.assertLess(usage.ru_maxrss, 48 << 10)
