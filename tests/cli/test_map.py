"""Whatever a repository holds comes back from its pages, byte for byte."""

import os
import random
import shutil
import subprocess

from harness import Executable, Symlink
from paging import PagingTest

SEED = 20240101

AWKWARD_CONTENTS = {
    "empty": b"",
    "one-newline": b"\n",
    "no-newline-at-end": b"first\nlast",
    "crlf": b"one\r\ntwo\r\n\r\nthree\r\n",
    "lone-cr": b"one\rtwo\r\rthree\r",
    "tabs-and-quotes": b'\t"quoted" \\ back\\slash / slash \b\f\n',
    "bom": b"\xef\xbb\xbfwith a mark\n",
    "line-separators": "a\u2028b\u2029c\u0085d\n".encode(),
    "controls": bytes(range(1, 32)) + b"\x7f\n",
    "c1-controls": "\u0080\u009b\u009f\n".encode(),
    "emoji": "\U0001f600 \U0001f468\u200d\U0001f469\u200d\U0001f467 \u00e9 e\u0301\n".encode(),
    "noncharacters": "\ufffe\uffff\U0010ffff\ufffd\n".encode(),
    "nul-behind-the-probe": b"x" * 8000 + b"\0" + b"y\n",
    "nul-at-the-end-of-the-probe": b"x" * 7999 + b"\0",
    "nul-first": b"\0text",
    "utf-16": "text\n".encode("utf-16"),
    "latin-1": "caf\u00e9 \u00fcber\n".encode("latin-1"),
    "run-me": Executable(b"#!/bin/sh\n"),
    "link": Symlink("empty"),
    "dangling": Symlink("../nowhere"),
}

# Input and how many U+FFFD WHATWG's decoder makes of it.
INVALID = {
    b"\x80": 1, b"\xff\xfe": 2, b"\xc0\x80": 2, b"\xc2": 1, b"\xc2a": 1, b"\xe0\x80\x80": 3,
    b"\xe2\x82": 1, b"\xe2\x82a": 1, b"\xed\xa0\x80": 3, b"\xf0\x9f\x98": 1, b"\xf0\x80\x80": 3,
    b"\xf0\x9f\xf0\x9f\x98\x80": 1, b"\xf4\x90\x80\x80": 4, b"\xf8\x88\x80\x80\x80": 5,
}

AWKWARD_NAMES = [
    b"new\nline", b"tab\there", b'quote"d', b"it's", b"back\\slash", b"-dash", b"--help", b" space ",
    b"bad-\xff\xfe", b"half-\xe2\x82", b"caf\xc3\xa9", b"\xf0\x9f\x98\x80", b"star*[x]?", b"esc\x1b[31m",
    b"x" * 255, b"dir-\xff/inner", b"a/" * 60 + b"deep", b"sp ace/in\nner", b"percent%s%n", b".hidden",
    b"a.b/c", b"a/b.c", b"a-b", b"a0",
]


def lines(count, seed=SEED):
    """Text that looks like a program: functions of some lines each."""
    chosen = random.Random(seed)
    out = []
    while len(out) < count:
        out.append(f"int function_{chosen.randrange(10**6)}(void)")
        out.append("{")
        out += [f"    call({chosen.randrange(10**9)});" for _ in range(chosen.randrange(1, 9))]
        out += ["}", ""]
    return "\n".join(out[:count]) + "\n"


class Content(PagingTest):
    def test_awkward_contents_come_back_byte_for_byte(self):
        repo = self.make_repo(AWKWARD_CONTENTS)
        row = self.map_row(repo)
        self.assertEqual(row["status"], "mapped")
        self.assertEqual({key: row["coverage"][key] for key in ("binary", "symlink", "failed")},
                         {"binary": 3, "symlink": 2, "failed": 0})
        self.check_mapping(repo, row)

    def test_one_replacement_stands_for_each_maximal_invalid_subpart(self):
        repo = self.make_repo({f"f{i:02}": data + b"|\n" for i, data in enumerate(INVALID)})
        row = self.map_row(repo, "--flush-threshold", "100")
        [listed] = self.check_mapping(repo, row, threshold=100)
        records = self.page(listed["page_id"])["records"]
        self.assertEqual([record["text"].count("\ufffd") for record in records],
                         list(INVALID.values()))
        self.assertTrue(all(record["lossy"] for record in records))

    def test_awkward_names_come_back(self):
        repo = self.make_repo({})
        for number, name in enumerate(AWKWARD_NAMES):
            path = os.path.join(os.fsencode(repo), name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file:
                file.write(b"content %d\n" % number)
        self.commit(repo, {})
        row = self.map_row(repo)
        self.assertEqual(row["coverage"]["paged"], len(AWKWARD_NAMES))
        listing = self.check_mapping(repo, row)
        paths = [path for page in listing for path in page["files"]]
        self.assertIn("bad-\\xff\\xfe", paths)
        self.assertIn("dir-\\xff/inner", paths)
        plain = self.vcm("pages", check=0)
        self.assertNotIn("\x1b", plain.out, "a name must not talk to the terminal")
        self.assertEqual(len(plain.out.splitlines()), 1 + len(listing))

    def test_a_submodule_is_counted_and_not_followed(self):
        repo = self.make_repo({"a": "a\n"})
        self.git(repo, "update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},sub/module")
        self.git(repo, "commit", "--quiet", "-m", "a gitlink")
        row = self.map_row(repo)
        self.assertEqual(row["coverage"]["submodule"], 1)
        self.check_mapping(repo, row)

    def test_a_file_above_32_mib_is_too_large(self):
        repo = self.make_repo({"a": "a\n", "large": b"0123456789abcde\n" * (33 * 65536)})
        row = self.map_row(repo)
        self.assertEqual(row["coverage"]["too_large"], 1)
        self.assertEqual(row["records"], 1)

    def test_a_single_huge_line_is_cut_inside(self):
        text = "".join(random.Random(SEED).choices("abc\u00e9\u20ac\U0001f600\"\\\t", k=20000))
        repo = self.make_repo({"line": text, "crs": "\r\n" * 3000})
        row = self.map_row(repo, "--flush-token-budget", "512")
        self.assertGreater(row["records"], 20)
        self.check_mapping(repo, row, budget=512)


class Bounds(PagingTest):
    def test_pages_keep_both_bounds_whatever_they_are(self):
        files = {f"src/part{i % 4}/file{i}.c": lines(5 + 7 * i, i) for i in range(10)}
        repo = self.make_repo(files)
        for threshold, budget in [(1, 4096), (3, 300), (1000, 100000), (20, 1000)]:
            with self.subTest(threshold=threshold, budget=budget):
                row = self.map_row(repo, "--flush-threshold", str(threshold),
                                   "--flush-token-budget", str(budget))
                self.check_mapping(repo, row, threshold, budget)

    def test_the_smallest_budget_holds(self):
        repo = self.make_repo({"a.txt": lines(60), "crlf": "ab\r\n" * 40, "e": "", "one": "x" * 900})
        row = self.map_row(repo, "--flush-token-budget", "64")
        self.check_mapping(repo, row, budget=64)

    def test_a_path_that_leaves_no_room_for_text_fails_alone(self):
        # {"path":"…","text":"x"} has 22 bytes beside the path: 64 tokens are 256 bytes.
        fits, exceeds, empty = "f" * 234, "e" * 235, "z" * 240
        repo = self.make_repo({fits: "xy", exceeds: "xy", empty: "", "ok": "ok\n"})
        document = self.map(repo, "--flush-token-budget", "64", check=3)
        [row] = document["sources"]
        self.assertEqual((document["status"], row["status"]), ("partial", "mapped"))
        self.assertEqual(row["coverage"]["failed"], 2)
        self.assertIn("path_exceeds_budget", row["message"])
        self.check_mapping(repo, row, budget=64, failed=(exceeds, empty))
        again = self.map(repo, "--flush-token-budget", "64", check=3)
        self.assertEqual((again["status"], again["sources"][0]["status"]),
                         ("partial", "already_mapped"))

    def test_bounds_outside_their_range_are_refused(self):
        repo = self.make_repo({"a": "a\n"})
        for option, value in [("--flush-threshold", "0"), ("--flush-token-budget", "63"),
                              ("--flush-threshold", "many"), ("--jobs", "0"), ("--jobs", "-1")]:
            result = self.vcm("map", repo, option, value, check=2)
            self.assertIn(option, result.err)

    def test_the_defaults_come_from_the_configuration(self):
        repo = self.make_repo({f"f{i}": lines(10, i) for i in range(9)})
        self.vcm("config", "set", "mmap.flush_threshold", "2", check=0)
        self.vcm("config", "set", "mmap.flush_token_budget", "100", check=0)
        self.vcm("config", "set", "mmap.pinned", "true", check=0)
        row = self.map_row(repo)
        listing = self.check_mapping(repo, row, threshold=2, budget=100)
        self.assertTrue(all(page["pinned"] for page in listing))


class Missing(PagingTest):
    def setUp(self):
        super().setUp()
        self.repo = self.make_repo({"a/one": "1\n", "a/two": "two\n", "b": "b\n"})
        blob = self.git(self.repo, "rev-parse", "HEAD:a/two")
        self.object = os.path.join(self.repo, ".git/objects", blob[:2], blob[2:])
        self.hidden = os.path.join(self.tmp, "hidden")

    def test_a_missing_object_fails_its_file_until_it_is_back(self):
        os.rename(self.object, self.hidden)
        for expected in ("mapped", "already_mapped"):
            document = self.map(self.repo, check=3)
            [row] = document["sources"]
            self.assertEqual((document["status"], row["status"], row["code"]),
                             ("partial", expected, None))
            self.assertEqual(row["coverage"]["failed"], 1)
            self.assertIn("1 file", row["message"])
            self.check_mapping(self.repo, row)
        first = self.vcm("map", self.repo, "--scope", "another", check=3)
        self.assertIn("a/two (object_missing)", first.out)
        os.rename(self.hidden, self.object)
        row = self.map_row(self.repo)
        self.assertEqual((row["status"], row["message"]), ("remapped", None))
        self.check_mapping(self.repo, row)
        self.assertEqual(self.map(self.repo)["status"], "already_mapped")

    def test_a_damaged_object_fails_its_file(self):
        os.chmod(self.object, 0o600)
        with open(self.object, "r+b") as file:
            file.truncate(5)
        [row] = self.map(self.repo, check=3)["sources"]
        self.assertEqual((row["coverage"]["failed"], row["coverage"]["paged"]), (1, 2))
        self.assertIn("object_damaged", row["message"])

    def forget(self, name):
        oid = self.git(self.repo, "rev-parse", name)
        os.unlink(os.path.join(self.repo, ".git/objects", oid[:2], oid[2:]))

    def test_a_missing_tree_is_one_entry_that_failed_and_a_missing_root_fails_the_row(self):
        self.map_row(self.repo)
        self.commit(self.repo, {"a/new": "new\n"})
        self.commit(self.repo, {"b": "another\n"})
        self.forget("HEAD~1:a")
        row = self.map_row(self.repo, "--commit", "HEAD~1", check=3)
        self.assertEqual((row["coverage"]["failed"], row["coverage"]["paged"]), (1, 1))
        self.assertIn("a (object_missing)", row["message"])
        self.forget("HEAD:")
        ids = self.page_ids()
        document = self.map(self.repo, check=1)
        [row] = document["sources"]
        self.assertEqual((document["status"], row["status"]), ("error", "error"))
        self.assertIsNotNone(row["code"])
        self.assertEqual(self.page_ids(), ids)


class Again(PagingTest):
    def snapshot(self):
        path = os.path.join(self.home, "store/data.mdb")
        with open(path, "rb") as file:
            return os.stat(path).st_mtime_ns, file.read()

    def test_a_second_run_changes_nothing(self):
        repo = self.make_repo({f"d{i}/f": lines(30, i) for i in range(10)})
        first = self.map_row(repo)
        before = self.snapshot()
        document = self.map(repo)
        [second] = document["sources"]
        self.assertEqual((document["status"], second["status"]),
                         ("already_mapped", "already_mapped"))
        for key in ("records", "pages", "tokens", "bytes", "coverage", "commit"):
            self.assertEqual(second[key], first[key], key)
        self.assertEqual((second["pages_created"], second["pages_dropped"]), (0, 0))
        self.assertEqual(self.snapshot(), before)

    def test_a_commit_moves_only_the_pages_around_it(self):
        files = {f"d{i:02}/f{j}.c": lines(60, 10 * i + j) for i in range(16) for j in range(4)}
        repo = self.make_repo(files)
        options = ["--flush-token-budget", "1024"]
        first_commit = self.git(repo, "rev-parse", "HEAD")
        first = self.map_row(repo, *options)
        ids = self.page_ids()
        self.assertGreater(first["pages"], 15)
        self.assertEqual(first["pages_created"], len(set(ids)))
        second_commit = self.commit(repo, {"d07/f2.c": lines(63, 999)}, remove=["d12/f0.c"])
        second = self.map_row(repo, *options)
        self.assertEqual((second["status"], second["commit"]), ("remapped", second_commit))
        moved = self.page_ids()
        self.assertEqual(second["pages_created"], len(set(moved) - set(ids)))
        self.assertEqual(second["pages_dropped"], len(set(ids) - set(moved)))
        self.assertEqual(second["pages_created"] + second["pages_reused"], second["pages"])
        self.assertLessEqual(second["pages_created"], 6)
        self.check_mapping(repo, second, budget=1024)
        back = self.map_row(repo, "--commit", first_commit, *options)
        self.assertEqual(back["status"], "remapped")
        self.assertEqual(self.page_ids(), ids)
        self.assertEqual(back["pages_created"], second["pages_dropped"])
        self.assertEqual(self.stat()["pages"]["total"], len(set(ids)))

    def test_a_line_at_the_top_of_a_long_file_keeps_the_pages_of_its_rest(self):
        text = lines(1000)
        repo = self.make_repo({"long.c": text})
        first = self.map_row(repo, "--flush-token-budget", "512")
        self.commit(repo, {"long.c": "/* new */\n" + text})
        second = self.map_row(repo, "--flush-token-budget", "512")
        self.assertGreater(first["pages"], 8)
        self.assertLessEqual(second["pages_created"], 3)
        self.check_mapping(repo, second, budget=512)

    def test_another_configuration_remaps(self):
        repo = self.make_repo({f"f{i}": lines(10, i) for i in range(9)})
        self.map_row(repo)
        row = self.map_row(repo, "--flush-threshold", "2")
        self.assertEqual(row["status"], "remapped")
        self.check_mapping(repo, row, threshold=2)

    def test_pinning_moves_the_mapping_and_no_page(self):
        repo = self.make_repo({"a": "a\n"})
        self.map_row(repo)
        for option, pinned in [(["--pinned"], True), ([], False)]:
            row = self.map_row(repo, *option)
            self.assertEqual((row["status"], row["pages_created"], row["pages_dropped"]),
                             ("remapped", 0, 0))
            self.assertEqual([page["pinned"] for page in self.pages()], [pinned])
            self.assertEqual(self.stat()["pages"]["pinned"], int(pinned))

    def test_a_page_of_repeated_text_is_listed_each_time(self):
        repo = self.make_repo({"same": ("0123456789abcdef" * 16 + "\n") * 150})
        row = self.map_row(repo, "--flush-token-budget", "1024", "--flush-threshold", "1")
        listing = self.check_mapping(repo, row, threshold=1, budget=1024)
        ids = [page["page_id"] for page in listing]
        self.assertLess(len(set(ids)), len(ids))
        self.assertEqual(row["pages_created"], len(set(ids)))
        self.assertEqual(row["pages_created"] + row["pages_reused"], row["pages"])
        repeated = max(set(ids), key=ids.count)
        page = self.page(repeated)
        self.assertEqual((page["occurrences"], page["seq"]),
                         (ids.count(repeated), ids.index(repeated)))
        result = self.vcm("page", repeated, "--seq", str(len(ids)), "--json", check=1)
        self.assertEqual(result.json()["error"]["code"], "NOT_FOUND")


class SamePages(PagingTest):
    def setUp(self):
        super().setUp()
        files = {f"d{i % 5}/f{i:02}": lines(60 + i, i) for i in range(40)}
        self.repo = self.make_repo({**files, **AWKWARD_CONTENTS})
        self.map_row(self.repo)
        self.expected = self.page_ids()
        self.assertGreater(len(self.expected), 5)

    def check_same(self, repo, *options):
        home = os.path.join(self.tmp, "another-home")
        shutil.rmtree(home, ignore_errors=True)
        self.make_home(home)
        row = self.map_row("--home", home, repo, *options)
        self.assertEqual(row["status"], "mapped")
        self.assertEqual(self.page_ids("--home", home), self.expected)

    def test_whatever_the_number_of_jobs(self):
        for jobs in ("1", "2", "8"):
            self.check_same(self.repo, "--jobs", jobs)

    def test_whatever_the_locale_the_time_zone_the_umask_and_the_user(self):
        user = os.path.join(self.tmp, "somebody")
        os.mkdir(user)
        with open(os.path.join(user, ".gitconfig"), "w", encoding="utf-8") as file:
            file.write("[core]\n\tautocrlf = true\n\texcludesFile = ~/ignore\n\tquotePath = true\n"
                       "\tprecomposeUnicode = true\n\tignoreCase = true\n")
        with open(os.path.join(user, "ignore"), "w", encoding="utf-8") as file:
            file.write("*\n")
        with open(os.path.join(self.repo, ".git/info/exclude"), "w", encoding="utf-8") as file:
            file.write("*\n")
        for number, (locale, zone, umask) in enumerate(
                [("C", "Asia/Kathmandu", 0o077), ("tr_TR.UTF-8", "America/St_Johns", 0o022),
                 ("de_DE.ISO-8859-1", "UTC", 0o000)]):
            home = os.path.join(self.tmp, f"machine-{number}" + "/deep" * number)
            os.makedirs(os.path.dirname(home), exist_ok=True)
            self.make_home(home)
            run = self.start("--home", home, "map", self.repo, "--jobs", str(1 + 3 * number),
                             umask=umask, env={"LC_ALL": locale, "LANG": locale, "TZ": zone,
                                               "HOME": user, "GIT_CONFIG_GLOBAL": None})
            self.assertEqual((run.communicate(timeout=60)[1], run.returncode), (b"", 0))
            self.assertEqual(self.page_ids("--home", home), self.expected)

    def test_from_a_shared_a_shallow_and_a_managed_clone_and_loose_objects(self):
        url = "file://" + self.repo
        self.git(self.tmp, "clone", "--quiet", "--shared", self.repo, "shared")
        self.git(self.tmp, "clone", "--quiet", "--depth=1", url, "shallow")
        for place in ("shared", "shallow"):
            self.check_same(os.path.join(self.tmp, place))
        self.check_same(url)
        loose = os.path.join(self.tmp, "shallow")
        packs = os.path.join(loose, ".git/objects/pack")
        for name in os.listdir(packs):
            os.rename(os.path.join(packs, name), os.path.join(self.tmp, name))
            if name.endswith(".pack"):
                pack = os.path.join(self.tmp, name)
        with open(pack, "rb") as file:
            self.git(loose, "unpack-objects", "-q", input=file.read())
        self.assertEqual(os.listdir(packs), [])
        self.check_same(loose)

    def test_from_a_clone_a_bare_clone_a_worktree_and_a_pack(self):
        self.git(self.tmp, "clone", "--quiet", self.repo, "elsewhere/clone")
        self.git(self.tmp, "clone", "--quiet", "--bare", self.repo, "bare.git")
        self.git(self.repo, "worktree", "add", "--quiet", "-b", "other",
                 os.path.join(self.tmp, "tree"))
        for place in ("elsewhere/clone", "elsewhere/clone/d3", "bare.git", "tree"):
            self.check_same(os.path.join(self.tmp, place))
        self.git(self.repo, "gc", "--quiet", "--aggressive")
        self.check_same(self.repo)

    def test_from_inside_the_repository_without_naming_it(self):
        home = os.path.join(self.tmp, "third-home")
        self.make_home(home)
        document = self.map("--home", home, cwd=os.path.join(self.repo, "d2"))
        self.assertEqual(document["repo_root"], self.repo)
        self.assertEqual(self.page_ids("--home", home), self.expected)


class Revisions(PagingTest):
    def test_branches_tags_ids_and_detached_heads(self):
        repo = self.make_repo({"a": "1\n"})
        first = self.git(repo, "rev-parse", "HEAD")
        self.git(repo, "tag", "light")
        self.git(repo, "tag", "-m", "annotated", "heavy")
        self.git(repo, "branch", "side/branch")
        second = self.commit(repo, {"a": "2\n"})
        for options, branch, commit in [
                ([], "main", second), (["--branch", "side/branch"], "side/branch", first),
                (["--commit", "light"], None, first), (["--commit", "heavy"], None, first),
                (["--commit", first[:10]], None, first), (["--commit", "HEAD"], "main", second)]:
            document = self.map(repo, *options)
            self.assertEqual(document["commit"], commit, options)
            self.assertEqual(document["sources"][0]["commit"], commit, options)
            if branch:
                self.assertEqual(document["branch"], branch, options)
        self.git(repo, "checkout", "--quiet", "--detach", first)
        document = self.map(repo)
        self.assertEqual((document["branch"], document["commit"]), (None, first))
        [scope] = self.vcm("scopes", "--json", check=0).json()["scopes"]
        self.assertEqual((scope["branch"], scope["commit"]), (None, first))

    def test_what_is_not_there_is_named(self):
        repo = self.make_repo({"a": "1\n"})
        for option, value in [("--commit", "nowhere"), ("--branch", "nowhere"),
                              ("--commit", "0123456789")]:
            result = self.vcm("map", repo, option, value, check=1)
            self.assertIn(value, result.err)
        blob = self.git(repo, "rev-parse", "HEAD:a")
        self.assertIn(blob, self.vcm("map", repo, "--commit", blob, check=1).err)
        self.vcm("map", repo, "--commit=-x", check=2)
        self.assertEqual(self.vcm("scopes", "--json", check=0).json()["scopes"], [])

    def test_a_repository_without_a_commit_says_so(self):
        repo = os.path.join(self.tmp, "unborn")
        os.mkdir(repo)
        self.git(repo, "init", "--quiet")
        result = self.vcm("map", repo, check=1)
        self.assertIn("commit", result.err)
        self.assertEqual(self.vcm("map", repo, "--json", check=1).json()["error"]["code"],
                         "NOT_FOUND")

    def test_an_empty_tree_has_no_pages(self):
        repo = self.make_repo({})
        document = self.map(repo)
        [row] = document["sources"]
        self.assertEqual((document["status"], row["status"], row["pages"], row["records"]),
                         ("mapped", "mapped", 0, 0))
        self.assertEqual(row["coverage"]["tracked"], 0)
        self.assertEqual(self.map(repo)["status"], "already_mapped")
        self.assertEqual(self.pages("--scope", row["scope_id"]), [])


class Scopes(PagingTest):
    def test_the_base_is_made_from_the_origin_without_its_credentials(self):
        secret = "s3cr3t-token"
        one = self.make_repo({"a": "1\n"}, name="one",
                             origin=f"https://user:{secret}@example.com/org/tool.git")
        two = self.make_repo({"b": "2\n"}, name="two", origin="https://example.com/org/tool.git")
        outputs = [self.vcm("map", one, *options, check=0)
                   for options in (["--json"], ["-v"], ["--scope", "x", "--json"])]
        document = outputs[0].json()
        self.assertEqual(document["origin_url"], "https://example.com/org/tool.git")
        self.assertRegex(document["base_scope_id"], r"^tool-[0-9a-f]{8}$")
        other = self.map(two, check=0)
        self.assertEqual(other["base_scope_id"], document["base_scope_id"])
        self.assertEqual(other["sources"][0]["status"], "remapped")
        outputs += [self.vcm(*command, check=0) for command in
                    (["scopes"], ["scopes", "--json"], ["pages", "--json"], ["stat", "--json"])]
        outputs.append(self.vcm("map", two, "--scope", "x", "--replace", check=0))
        for output in outputs:
            self.assertNotIn(secret, output.out + output.err)
        for folder, _, names in os.walk(self.home):
            for name in names:
                with open(os.path.join(folder, name), "rb") as file:
                    self.assertFalse(secret.encode() in file.read(), name)

    def test_without_an_origin_the_directory_gives_the_name(self):
        repo = self.make_repo({"a": "1\n"}, name="my tool")
        document = self.map(repo)
        self.assertIsNone(document["origin_url"])
        self.assertRegex(document["base_scope_id"], r"^my-tool-[0-9a-f]{8}$")
        self.assertEqual(document["sources"][0]["scope_id"], document["base_scope_id"])
        link = os.path.join(self.tmp, "link")
        os.symlink(repo, link)
        self.assertEqual(self.map(link)["status"], "already_mapped")

    def test_another_origin_takes_a_scope_over_only_when_told(self):
        one = self.make_repo({"a": "1\n"}, name="one")
        two = self.make_repo({"a": "2\n"}, name="two")
        self.map_row(one, "--scope", "shared-name")
        ids = self.page_ids()
        result = self.vcm("map", two, "--scope", "shared-name", "--json", check=2)
        self.assertEqual(result.json()["error"]["code"], "INVALID_ARGUMENT")
        self.assertIn("--replace", result.json()["error"]["message"])
        self.assertEqual(self.page_ids(), ids)
        row = self.map_row(two, "--scope", "shared-name", "--replace")
        self.assertEqual((row["status"], row["pages_dropped"]), ("remapped", 1))
        self.check_mapping(two, row)

    def test_scope_names_are_checked(self):
        repo = self.make_repo({"a": "1\n"})
        self.assertEqual(self.map(repo, "--scope", "A-z.0_9")["base_scope_id"], "A-z.0_9")
        self.assertEqual(self.map_row(repo, "--scope", "n" * 128)["scope_id"], "n" * 128)
        for name in ("", "a b", "a:b", "a/b", "\u00e9", "n" * 129, "a\nb"):
            result = self.vcm("map", repo, f"--scope={name}", check=2)
            self.assertEqual(len(result.err.splitlines()), 1, result)

    def test_only_names_rows(self):
        repo = self.make_repo({"a": "1\n"})
        self.assertEqual(self.map(repo, "--only", "default")["status"], "mapped")
        result = self.vcm("map", repo, "--only", "default", "--only", "docs", "--json", check=2)
        self.assertIn("docs", result.json()["error"]["message"])

    def test_the_rows_of_a_map_file_are_mapped(self):
        repo = self.make_repo({
            ".colony/repo_map.yaml": "schema_version: 1\nsources:\n"
                                     "  - {name: code, type: git_repo, start_dir: src}\n",
            "src/a.c": "int a;\n", "b.c": "int b;\n"})
        source, = self.vcm("map", repo, "--json", check=0).json()["sources"]
        self.assertEqual((source["name"], source["coverage"]["tracked"]), ("code", 1))


class People(PagingTest):
    def test_the_output_for_people_tells_the_whole_story(self):
        repo = self.make_repo({"a": "1\n", "b": b"\0", "c": Symlink("a")})
        result = self.vcm("map", repo, check=0)
        for word in ("mapped", repo, "main", "3 files tracked", "1 paged", "1 binary", "1 symlink"):
            self.assertIn(word, result.out)
        self.assertEqual(result.err, "")
        self.assertIn("already_mapped", self.vcm("map", repo, check=0).out)
        self.assertEqual(self.vcm("map", repo, "-q", check=0).out, "")

    def test_the_table_has_a_line_for_each_row_and_their_sum(self):
        repo = self.make_repo({"a/1": "1\n", "b/2": "2\n", "b/3": b"\0",
                               ".colony/repo_map.yaml": "schema_version: 1\nsources:\n"
                               "  - {name: a, type: git_repo, start_dir: a}\n"
                               "  - {name: b, type: git_repo, start_dir: b}\n"
                               "  - {name: c, type: git_repo, start_dir: c}\n"})
        lines = self.vcm("map", repo, "--scope", "sample", check=3).out.splitlines()
        self.assertRegex(lines[0], r"^partial  .* at [0-9a-f]{12} \(main\) in \d")
        self.assertEqual(lines[1].split(), ["SCOPE", "STATUS", "FILES", "PAGES", "TOKENS", "SIZE",
                                            "CHANGED", "TIME"])
        self.assertRegex(lines[2], r"^sample:a +mapped +1 of 1 +1 +\d+ +\d+ B +1 new +\d+ ms$")
        self.assertRegex(lines[3], r"^sample:b +mapped +1 of 2 +1 +\d+ +\d+ B +1 new +\d+ ms$")
        self.assertRegex(lines[4], r"^sample:c +error( +-){6}$")
        self.assertRegex(lines[5], r"^total +2 of 3 +2 +\d+ +\d+ B +2 new +\d+ ms$")
        self.assertRegex(lines[6], r"^sample:a: 1 file tracked: 1 paged$")
        self.assertTrue(lines[8].startswith("sample:c: "), lines)
        self.commit(repo, {"a/1": "changed\n"}, remove=["b/2"])
        lines = self.vcm("map", repo, "--scope", "sample", check=3).out.splitlines()
        self.assertIn("1 new, 1 dropped", lines[2])
        self.assertIn("1 dropped", lines[3])
        lines = self.vcm("map", repo, "--scope", "sample", check=3).out.splitlines()
        self.assertIn("nothing", lines[2])

    def test_a_page_reads_as_its_files(self):
        repo = self.make_repo({"a.txt": "first\nsecond\n", "b.txt": "no newline",
                               "c.txt": "======== fake (lines 1-1)\n========= longer\n"})
        self.map_row(repo)
        [page] = self.pages()
        out = self.vcm("page", page["page_id"][:8], check=0).out
        self.assertEqual(out, "======== a.txt (lines 1-2)\nfirst\nsecond\n========\n"
                              "======== b.txt (lines 1-1, no newline at end)\nno newline\n"
                              "========\n"
                              "========== c.txt (lines 1-2)\n======== fake (lines 1-1)\n"
                              "========= longer\n==========\n")
        as_json = self.vcm("page", page["page_id"], "--format", "json", check=0)
        self.assertEqual(as_json.json(), self.page(page["page_id"]))

    def test_git_is_not_changed(self):
        repo = self.make_repo({"a": "1\n"})

        def state():
            run = subprocess.run("find . -printf '%p %T@ %s\\n' | sort", shell=True, cwd=repo,
                                 check=True, capture_output=True)
            return run.stdout
        before = state()
        self.map_row(repo)
        self.assertEqual(state(), before)
