"""Servers: clones are fetched over https and ssh, with and without credentials, or not at all."""

import glob
import json
import os
import shutil
import signal
import time

from clones import FILES, CloneTest
from harness import TIMEOUT_SECONDS
from remotes import PASSWORD, USER, HttpsRemote, SshRemote


class Https(CloneTest):
    def setUp(self):
        super().setUp()
        self.repo, _ = self.remote_repo()
        self.remote = HttpsRemote(self, os.path.join(self.tmp, "srv"))
        self.env["GIT_SSL_CAINFO"] = self.remote.certificate

    def assert_no_secret(self, *results):
        for result in results:
            self.assertNotIn(PASSWORD, result.out + result.err)
        self.assertNotIn(PASSWORD.encode(), self.everything_under(self.home))

    def test_a_repository_is_fetched(self):
        url = self.remote.url("ok/tool")
        document = self.report("map", url)
        self.assertEqual(self.texts(document["base_scope_id"]), FILES)
        self.commit(self.repo, {"c": "2\n"})
        self.assertEqual(self.row(url)["status"], "remapped")

    def test_settings_that_change_during_a_fetch_hold_for_what_it_brought(self):
        run = self.start("map", self.remote.url("held/tool"), "--scope", "tool", "--json")
        while not self.remote.server.seen and run.poll() is None:
            time.sleep(0.02)
        self.vcm("config", "set", "mmap.flush_threshold", "1", check=0)
        self.remote.server.released.set()
        out, err = run.communicate(timeout=TIMEOUT_SECONDS)
        self.assertEqual(run.returncode, 0, err)
        self.assertEqual(json.loads(out)["sources"][0]["pages"], len(FILES))

    def test_a_server_that_gives_out_refs_only_still_has_every_commit(self):
        first = self.git(self.repo, "rev-parse", "HEAD")
        self.commit(self.repo, {"c": "2\n"})
        result = self.vcm("map", self.remote.url("v0/tool"), "--commit", first, "--json", check=0)
        self.assertEqual(result.json()["commit"], first)
        self.assertIn("everything", self.vcm("map", self.remote.url("v0/tool"), "--commit",
                                             first[:9], check=0).err)

    def test_answers_have_their_codes(self):
        for path, code in (("ok/nothing-here", "NOT_FOUND"), ("status/404/x", "NOT_FOUND"),
                           ("status/403/x", "AUTH_FAILED"), ("status/500/x", "NETWORK_ERROR"),
                           ("close/x", "NETWORK_ERROR"), ("http/tool", "NETWORK_ERROR")):
            message = self.failure(self.remote.url(path), code=code)
            self.assertIn(self.remote.url(path), message)
            self.assertNotRegex(message, "fatal:|remote:|error:")
        self.failure("https://127.0.0.1:1/x", code="NETWORK_ERROR")
        self.failure("https://nowhere.invalid/x", code="NETWORK_ERROR")
        message = self.failure(self.remote.url("ok/tool"), code="NETWORK_ERROR",
                               env={"GIT_SSL_CAINFO": "/dev/null"})
        self.assertNotIn("fatal", message)
        self.assertEqual(self.clones(), [])

    def test_a_server_that_hangs_is_left_at_the_time_limit(self):
        start = time.monotonic()
        self.failure(self.remote.url("hang/x"), "--timeout", "1s", code="TIMEOUT")
        for command in ("check", "show"):
            error = self.error_of(command, self.remote.url("hang/x"), "--timeout", "1s", check=1)
            self.assertEqual(error["code"], "TIMEOUT")
        self.assertLess(time.monotonic() - start, 40)
        self.failure(self.remote.url("ok/tool"), "--timeout", "soon", code="INVALID_ARGUMENT",
                     check=2)
        self.failure(self.remote.url("ok/tool"), "--timeout", "0s", code="INVALID_ARGUMENT",
                     check=2)

    def test_ctrl_c_ends_a_fetch(self):
        run = self.start("map", "--json", self.remote.url("hang/x"))
        while not self.remote.server.seen:
            time.sleep(0.02)
        os.kill(run.pid, signal.SIGINT)
        out, _ = run.communicate(timeout=30)
        self.assertEqual(run.returncode, 130)
        self.assertIn(b'"error"', out)

    def test_without_credentials_access_fails_and_nobody_is_asked(self):
        url = self.remote.url("auth/tool")
        message = self.failure(url, code="AUTH_FAILED")
        self.assertIn("credentials.", message)
        result = self.vcm("map", url, tty=True, env={"GIT_ASKPASS": "/bin/cat"})
        self.assertEqual(result.status, 1)
        self.assertNotIn("Username", result.out)

    def test_credentials_of_the_configuration_are_used_and_not_seen(self):
        url, log = self.remote.url("auth/tool"), self.log_git()
        secret = os.path.join(self.tmp, "secret")
        for value, env in ((PASSWORD, False), (f"{USER}:{PASSWORD}", False), (PASSWORD, True),
                           (f"{USER}:{PASSWORD}", True)):
            shutil.rmtree(self.home, ignore_errors=True)
            self.write(self.tmp, {"secret": value + "\n"})
            self.vcm("config", "set", "credentials.127.*", "TOKEN" if env else secret, check=0)
            result = self.vcm("map", "-v", url, check=0, env={"TOKEN": value})
            self.assert_no_secret(result, self.vcm("scopes", "--json", check=0))
        with open(log, encoding="utf-8") as file:
            self.assertNotIn(PASSWORD, file.read())
        self.failure(url, code="AUTH_FAILED", env={"TOKEN": None})
        self.vcm("config", "set", "credentials.127.0.0.1", "WRONG", check=0)
        message = self.failure(url, code="AUTH_FAILED", env={"WRONG": "nobody:nothing"})
        self.assertNotIn("nothing", message)
        self.failure(url, code="AUTH_FAILED", env={"WRONG": "a\nb"})
        os.unlink(secret)
        self.vcm("config", "set", "credentials.127.0.0.1", secret, check=0)
        self.assertIn(secret, self.failure(url, code="AUTH_FAILED"))

    def test_credentials_in_the_url_are_used_and_not_kept(self):
        url, log = self.remote.url("auth/tool", f"{USER}:{PASSWORD}@"), self.log_git()
        result = self.vcm("map", "-v", "--json", url, check=0)
        document = result.json()
        self.assertEqual(document["origin_url"], self.remote.url("auth/tool"))
        self.assert_no_secret(result, self.vcm("map", "-v", url, check=0),
                              self.vcm("preview", url, check=0))
        with open(log, encoding="utf-8") as file:
            text = file.read()
        self.assertIn("fetch", text)
        self.assertNotIn(PASSWORD, text)
        message = self.failure(self.remote.url("auth/none", f"{USER}:{PASSWORD}@"),
                               code="NOT_FOUND")
        self.assertNotIn(PASSWORD, message)
        self.failure(self.remote.url("auth/tool", f"{USER}:wr0ng@"), code="AUTH_FAILED")

    def test_a_redirect_to_another_host_gets_no_credentials(self):
        url = self.remote.url("away/tool", f"{USER}:{PASSWORD}@")
        self.failure(url, code="AUTH_FAILED")
        self.assertEqual([seen for path, seen in self.remote.server.seen if "auth/" in path and seen],
                         [])

    def test_the_users_own_credential_helper_is_asked(self):
        helper = f"!f() {{ echo username={USER}; echo password={PASSWORD}; }}; f"
        self.git(self.tmp, "config", "--global", "credential.helper", helper)
        self.report("map", self.remote.url("auth/tool"))
        self.assertNotIn(PASSWORD.encode(), self.everything_under(self.home))

    def test_two_processes_share_a_clone(self):
        runs = [self.start("map", "--json", self.remote.url("ok/tool")) for _ in range(3)]
        for run in runs:
            out, err = run.communicate(timeout=60)
            self.assertEqual(run.returncode, 0, (out, err))
        self.assertEqual(len(self.clones()), 1)

    def test_a_killed_fetch_leaves_nothing_in_the_way(self):
        url = self.remote.url("ok/tool")
        run = self.start("map", self.remote.url("hang/tool"))
        while not self.remote.server.seen:
            time.sleep(0.02)
        run.kill()
        run.communicate(timeout=30)
        for _ in range(200):
            if not self.programs_we_started():
                break
            time.sleep(0.05)
        self.assertEqual(self.programs_we_started(), [])
        self.report("map", url)
        [clone] = [path for path in self.clones() if self.is_of(path, url)]
        # As if it had been killed later, and then earlier.
        self.commit(self.repo, {"c": "2\n"})
        with open(clone + ".lock", "w", encoding="ascii") as file:
            file.write("1\n")
        self.write(clone, {"shallow.lock": "", "refs/vcm/fetched.lock": "", "HEAD.lock": "",
                           "objects/pack/tmp_pack_x": "x"})
        self.assertEqual(self.row(url)["status"], "remapped")
        self.assertFalse(os.path.exists(os.path.join(clone, "objects/pack/tmp_pack_x")))
        shutil.rmtree(os.path.join(clone, "objects"))
        os.unlink(os.path.join(clone, "vcm-clone"))
        self.commit(self.repo, {"c": "3\n"})
        self.assertEqual(self.row(url)["status"], "remapped")

    def programs_we_started(self):
        """The git that vcm runs; its helpers end when they find that out."""
        found = []
        for process in glob.glob("/proc/[0-9]*"):
            try:
                with open(f"{process}/environ", "rb") as file:
                    ours = f"GIT_DIR={self.home}".encode() in file.read()
                with open(f"{process}/cmdline", "rb") as file:
                    if ours and b"ls-remote" in file.read():
                        found.append(process)
            except OSError:
                pass
        return found

    def is_of(self, clone, url):
        with open(os.path.join(clone, "config"), encoding="utf-8") as file:
            return f'"{url}"' in file.read()


class Ssh(CloneTest):
    def test_a_repository_is_fetched_with_the_users_own_ssh(self):
        repo, _ = self.remote_repo()
        remote = SshRemote(self)
        url = remote.url(repo)
        for command, code in ((remote.command(), None), (remote.command(key="other"), "AUTH_FAILED"),
                              (remote.command(hosts="no_hosts"), "AUTH_FAILED")):
            self.use_ssh(command)
            if code:
                message = self.failure(url, "--timeout", "20s", code=code)
                self.assertNotRegex(message, "Permission denied|verification failed")
            else:
                document = self.report("map", url)
                self.assertEqual(document["origin_url"], url)
                self.assertEqual(self.texts(document["base_scope_id"]), FILES)
        self.use_ssh(remote.command())
        self.failure(remote.url(repo + "-not"), code="NOT_FOUND")
