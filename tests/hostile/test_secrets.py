"""No password of a URL in what vcm prints, nor in any file of its home."""

import os
import re

import clones
import remotes

SECRET = "pl4nted-s3cret"
# Every form in which people write a secret into a URL; a line each. Nobody listens at port 1.
URLS = tuple(form.format(SECRET) for form in (
    "https://user:{}@127.0.0.1:1/org/tool.git",
    "https://{}@127.0.0.1:1/org/tool.git",
    "https://user:p@{}@127.0.0.1:1/org/tool.git",
    "https://user:it's%20{}@127.0.0.1:1/org/tool.git",
    "https://user:a/{}@127.0.0.1:1/org/tool.git", "https://user:a {}@127.0.0.1:1/org/tool.git",
    " https://user:{}@127.0.0.1:1/org/tool.git",
    "https://127.0.0.1:1/org/tool.git?private_token={}",
    "https://127.0.0.1:1/org/tool.git#access_token={}",
    "http://user:{}@127.0.0.1:1/org/tool.git",
    "ssh://user:{}@127.0.0.1:1/org/tool.git",
    "https:/user:{}@127.0.0.1/tool", "https//user:{}@127.0.0.1/tool", "user:{}@127.0.0.1:tool",
    "git://user:{}@127.0.0.1:1/tool", "ext::https://user:{}@127.0.0.1/tool",
))
LONG = "VCM_TEST_LONG" in os.environ
ROUNDS = ((), ("--json", "--verbose"))


class Secrets(clones.CloneTest):
    def assert_no_secret(self, result):
        self.assertNotIn(SECRET, result.out + result.err, str(result))

    def tell(self, *args, **options):
        for extra in ROUNDS:
            self.assert_no_secret(self.vcm(*args, *extra, **options))

    def assert_home_has_none(self):
        self.assertNotIn(SECRET.encode(), self.everything_under(self.home))
        self.assertNotIn(SECRET.encode(), self.everything_under(self.env["TMPDIR"]))

    def commands(self):
        """Every command with its options that take a value, as its help lists them."""
        body = re.search(r"\nCommands\n(.*?)\n\n", self.vcm("--help", check=0).out, re.S).group(1)
        for line in body.splitlines():
            words = re.match(r"  (\S+(?: \S+)*?)  +\S", line).group(1).split()
            text = self.vcm(*words, "--help", check=0).out
            yield words, re.findall(r"^  (--(?!home)[a-z-]+) [A-Z]", text, re.M)

    def test_a_url_as_any_argument_or_option_of_any_command(self):
        for words, options in self.commands():
            forms = URLS[:1]
            if words[0] in ("map", "symbols", "init"):
                forms = URLS
            elif LONG:  # "user:password@host" may be a scope
                forms = [url for url in URLS if "//" in url]
            for url in forms:
                self.assert_no_secret(self.vcm(*words, url, input=""))
            for option in options if LONG else options[:1]:
                self.assert_no_secret(self.vcm(*words, option, URLS[0], "--json", input=""))
        self.assert_no_secret(self.vcm(URLS[0]))
        self.assert_home_has_none()

    def test_origins_of_local_repositories(self):
        for number, url in enumerate(URLS):
            repo = self.make_repo({"a.c": "int a;\n", "d.bin": b"\0\1"}, name=f"repo{number}", origin=url)
            self.assert_no_secret(self.vcm("map", repo, "--json", "-v"))
        self.git(repo, "config", "remote.origin.pushurl", URLS[0])
        for command in (("check",), ("preview",), ("show",), ("symbols",), ("repo", "map"),
                        ("lfs", "status"), ("lfs", "pull"), ("init", "--dry-run"), ("init", "--push")):
            self.tell(*command, repo)
        for command in (("scopes",), ("pages",), ("stat",), ("verify",), ("doctor",)):
            self.tell(*command)
        self.assert_home_has_none()

    def test_rows_and_submodules_that_name_such_a_url(self):
        rows = "".join(f'  - {{name: row{number}, type: git_repo, origin_url: "{url}"}}\n'
                       for number, url in enumerate(URLS))
        repo = self.make_repo({
            "a.c": "int a;\n",
            ".colony/repo_map.yaml": f"schema_version: 1\nsources:\n{rows}"
                                     "  - {name: sub, type: git_repo, submodule: sub}\n"
                                     "  - {name: own, type: git_repo, exclude_globs: [.colony, .gitmodules]}\n",
            ".gitmodules": f'[submodule "sub"]\n  path = sub\n  url = {URLS[0]}\n'})
        head = self.git(repo, "rev-parse", "HEAD")
        self.git(repo, "update-index", "--add", "--cacheinfo", f"160000,{head},sub")
        self.git(repo, "commit", "--quiet", "-m", "sub")
        for command in (("map",), ("check",), ("preview",), ("show",), ("symbols",), ("scopes",)):
            self.tell(*command, *([repo] if command != ("scopes",) else []))
        self.tell("preview", repo, "--origin-url", URLS[0])
        self.assert_home_has_none()

    def test_a_repository_that_is_fetched_with_a_password(self):
        self.make_repo(clones.FILES, name="srv/tool", bare=True)
        server = remotes.HttpsRemote(self, os.path.join(self.tmp, "srv"))
        server.server.known.add(f"{remotes.USER}:{SECRET}")
        self.git(self.tmp, "config", "--global", "http.sslCAInfo", server.certificate)
        url = server.url("auth/tool.git", f"{remotes.USER}:{SECRET}@")
        self.assert_no_secret(self.vcm("map", url, "-v", check=0))
        dest = os.path.join(self.tmp, "dest")
        self.assert_no_secret(self.vcm("repo", "fetch", url, "--dest", dest, "-v", check=0))
        for path in ("ok/none.git", "status/500", "close/x"):
            self.tell("map", server.url(path, f"{remotes.USER}:{SECRET}@"))
            self.tell("repo", "fetch", server.url(path, f"{remotes.USER}:{SECRET}@"))
        self.tell("scopes")
        self.assert_home_has_none()
        self.assertNotIn(SECRET.encode(), self.everything_under(dest))

    def test_a_password_that_is_longer_than_a_message(self):
        long = SECRET * 100
        for command in (("symbols",), ("lfs", "status"), ("repo", "map"), ("check",)):
            self.tell(*command, f"https://user:{long}@127.0.0.1:1/tool")
