"""`vcm repo fetch` and servers: two ways in, secrets that stay secret, failures that have names."""

import glob
import os
import shutil
import socket
import subprocess
import time

from clones import FILES, CloneTest
from remotes import PASSWORD, USER, HttpsRemote, SshRemote


class FetchTest(CloneTest):
    def fetch(self, *args, **options):
        return self.vcm("repo", "fetch", *args, "--json", check=0, **options).json()

    def refusal(self, *args, code, check=1, **options):
        result = self.vcm("repo", "fetch", *args, "--json", check=check, **options)
        error = result.json()["error"]
        self.assertEqual(error["code"], code, error)
        self.assertNotRegex(error["message"], "fatal:|remote:|error:|Permission denied|Username")
        self.assert_no_secret(result)
        return error["message"]

    def assert_no_secret(self, *results):
        for result in results:
            self.assertNotIn(PASSWORD, result.out + result.err)
        self.assertNotIn(PASSWORD.encode(), self.everything_under(self.home))

    def serve_https(self):
        self.repo, self.file_url = self.remote_repo()
        self.https = HttpsRemote(self, os.path.join(self.tmp, "srv"))
        # As people have it whose company has an authority of its own.
        self.git(self.tmp, "config", "--global", "http.sslCAInfo", self.https.certificate)

    def instead_of(self, address, other):
        self.git(self.tmp, "config", "--global", "--add", f"url.{other}.insteadOf", address)


class TwoWays(FetchTest):
    """One forge that is reached over https and over ssh, under a name without a port."""

    def setUp(self):
        super().setUp()
        self.serve_https()
        self.ssh = SshRemote(self)
        self.ssh.program(self)
        self.instead_of("ssh://git@forge.test/", self.ssh.url(os.path.join(self.tmp, "srv")) + "/")
        self.instead_of("git@forge.test:", self.ssh.url(os.path.join(self.tmp, "srv")) + "/")

    def test_ssh_is_tried_when_https_wants_credentials(self):
        self.instead_of("https://forge.test/", self.https.url("auth/"))
        found = self.fetch("https://forge.test/tool")
        self.assertEqual(found["tree"], sorted(FILES))
        with open(os.path.join(found["clone_path"], "config"), encoding="utf-8") as file:
            self.assertIn("ssh://git@forge.test/tool", file.read())

    def test_https_is_tried_when_ssh_refuses_our_keys(self):
        self.instead_of("https://forge.test/", self.https.url("ok/"))
        self.ssh.program(self, key="other")
        for url in ("ssh://git@forge.test/tool", "git@forge.test:tool"):
            shutil.rmtree(self.home, ignore_errors=True)
            found = self.fetch(url)
            self.assertEqual(found["tree"], sorted(FILES))
            with open(os.path.join(found["clone_path"], "config"), encoding="utf-8") as file:
                self.assertIn("https://forge.test/tool", file.read())

    def test_when_both_refuse_the_first_is_told(self):
        self.instead_of("https://forge.test/", self.https.url("auth/"))
        self.ssh.program(self, key="other")
        self.assertIn("https://forge.test/tool",
                      self.refusal("https://forge.test/tool", code="AUTH_FAILED"))
        self.assertIn("git@forge.test:tool",
                      self.refusal("git@forge.test:tool", code="AUTH_FAILED"))
        self.assertEqual(self.clones(), [])

    def test_what_is_not_there_is_not_looked_for_elsewhere(self):
        self.instead_of("https://forge.test/", self.https.url("ok/"))
        self.refusal("https://forge.test/gone", code="NOT_FOUND")
        with open(self.ssh.path("log"), encoding="utf-8", errors="replace") as file:
            self.assertNotIn("Accepted publickey", file.read())


class Credentials(FetchTest):
    def setUp(self):
        super().setUp()
        self.serve_https()
        self.url = self.https.url("auth/tool")

    def assert_fetched(self, **options):
        shutil.rmtree(self.home, ignore_errors=True)
        result = self.vcm("repo", "fetch", "-v", self.url, "--json", check=0, **options)
        self.assertEqual(result.json()["tree"], sorted(FILES))
        self.assert_no_secret(result, self.vcm("repo", "fetch", "-v", self.url, check=0, **options))

    def test_netrc_is_read(self):
        self.refusal(self.url, code="AUTH_FAILED")
        self.write(self.env["HOME"], {
            ".netrc": f"machine 127.0.0.1 login {USER} password {PASSWORD}\n"})
        self.assert_fetched()

    def test_the_users_helper_is_asked(self):
        self.git(self.tmp, "config", "--global", "credential.helper", "store")
        self.write(self.env["HOME"], {
            ".git-credentials": f"https://{USER}:{PASSWORD}@127.0.0.1%3a{self.https.host[10:]}\n"})
        self.assert_fetched()

    def test_the_token_of_the_closest_pattern_is_used(self):
        env = {"GOOD": f"{USER}:{PASSWORD}", "BAD": "wr0ng"}
        for pattern, name in (("*", "BAD"), ("127.*", "GOOD"), ("*.0.1", "BAD")):
            self.vcm("config", "set", f"credentials.{pattern}", name, check=0)
        self.refusal(self.url, code="AUTH_FAILED", env={"GOOD": "x", "BAD": "y"})
        self.vcm("config", "set", f"credentials.{self.https.host}", "GOOD", check=0)
        result = self.vcm("repo", "fetch", self.url, "--json", check=0, env=env)
        self.assert_no_secret(result)

    def test_no_process_has_a_secret_in_its_words(self):
        self.vcm("config", "set", "credentials.127.0.0.1", "TOKEN", check=0)
        run = self.start("repo", "fetch", self.https.url("lock/tool"), "--timeout", "30s",
                         env={"TOKEN": f"{USER}:{PASSWORD}"})
        while not any(secret for _, secret in self.https.server.seen):
            time.sleep(0.02)
        words, ours = b"", 0
        for name in glob.glob("/proc/[0-9]*/cmdline"):
            try:
                with open(name, "rb") as file:
                    text = file.read()
            except OSError:
                continue
            words += text
            ours += b"lock/tool" in text
        run.terminate()
        run.communicate(timeout=30)
        self.assertGreaterEqual(ours, 2)  # vcm, and git that waits for the server
        self.assertNotIn(PASSWORD.encode(), words)
        self.assertNotIn(PASSWORD.encode(), self.everything_under(self.home))

    def test_secrets_do_not_follow_a_redirect_to_another_host(self):
        self.write(self.env["HOME"], {
            ".netrc": f"machine 127.0.0.1 login {USER} password {PASSWORD}\n"})
        self.vcm("config", "set", "credentials.127.0.0.1", "TOKEN", check=0)
        for url in (self.https.url("away/tool"), self.https.url("away/tool", f"{USER}:{PASSWORD}@")):
            self.refusal(url, code="AUTH_FAILED", env={"TOKEN": f"{USER}:{PASSWORD}"})
        followed = [secret for path, secret in self.https.server.seen if path.startswith("/auth/")]
        self.assertGreaterEqual(len(followed), 2)
        self.assertEqual(set(followed), {None})

    def test_one_redirect_to_the_same_repository_elsewhere_is_followed(self):
        self.write(self.env["HOME"], {
            ".netrc": f"machine localhost login {USER} password {PASSWORD}\n"})
        self.assertEqual(self.fetch(self.https.url("away/tool"))["tree"], sorted(FILES))


class Failures(FetchTest):
    def setUp(self):
        super().setUp()
        self.serve_https()

    def tries(self, path):
        return sum(seen.startswith(path) and "info/refs" in seen
                   for seen, _ in self.https.server.seen)

    def test_a_server_that_fails_for_a_moment_is_asked_again(self):
        self.assertEqual(self.fetch(self.https.url("flaky/tool"))["tree"], sorted(FILES))
        self.assertGreaterEqual(self.tries("/flaky"), 3)

    def test_only_what_may_pass_is_tried_again_and_not_for_ever(self):
        self.refusal(self.https.url("status/503/x"), code="NETWORK_ERROR")
        self.assertEqual(self.tries("/status/503"), 3)
        self.refusal(self.https.url("status/404/x"), code="NOT_FOUND")
        self.assertEqual(self.tries("/status/404"), 1)
        self.refusal(self.https.url("status/403/x"), code="AUTH_FAILED")
        self.assertEqual(self.tries("/status/403"), 1)

    def test_trying_again_keeps_to_the_time_limit(self):
        url = self.https.url("status/503/x")
        result = self.vcm("repo", "fetch", url, "--timeout", "250ms", "--json", check=1)
        # A machine that is busy may be over the limit before the first answer is there.
        self.assertIn(result.json()["error"]["code"], ("NETWORK_ERROR", "TIMEOUT"))
        self.assertLessEqual(self.tries("/status/503"), 1)

    def test_a_url_that_hangs_is_left_at_the_time_limit(self):
        self.refusal(self.https.url("hang/x"), "--timeout", "1s", code="TIMEOUT")
        self.assertEqual(self.clones(), [])

    def test_what_asks_for_a_password_gets_none_and_asks_nobody(self):
        self.assertIn("credentials.", self.refusal(self.https.url("auth/tool"), code="AUTH_FAILED"))
        result = self.vcm("repo", "fetch", self.https.url("auth/tool"), tty=True,
                          env={"GIT_ASKPASS": "/bin/cat", "SSH_ASKPASS": "/bin/cat"})
        self.assertEqual(result.status, 1)
        self.assertNotIn("Password", result.out)

    def test_what_serves_something_else_is_no_repository(self):
        self.refusal(self.https.url("page/tool"), code="NOT_FOUND")
        self.refusal(self.https.url("junk/tool"), code="NETWORK_ERROR")
        self.assertEqual(self.clones(), [])

    def test_a_certificate_that_nobody_vouches_for_is_refused(self):
        self.git(self.tmp, "config", "--global", "http.sslCAInfo", "/dev/null")
        self.refusal(self.https.url("ok/tool"), code="NETWORK_ERROR")


class Ssh(FetchTest):
    def setUp(self):
        super().setUp()
        self.repo, _ = self.remote_repo()
        self.remote = SshRemote(self)
        self.url = self.remote.url(self.repo)

    def test_the_key_of_a_new_host_is_taken_and_a_changed_one_is_not(self):
        self.remote.program(self, hosts="no_hosts")
        self.assertEqual(self.fetch(self.url)["tree"], sorted(FILES))
        with open(self.remote.path("no_hosts"), encoding="ascii") as file:
            known = file.read()
        self.assertIn(str(self.remote.port), known)
        with open(self.remote.path("other.pub"), encoding="ascii") as file:
            other = file.read().split()[1]
        with open(self.remote.path("no_hosts"), "w", encoding="ascii") as file:
            file.write(f"[127.0.0.1]:{self.remote.port} ssh-ed25519 {other}\n")
        self.assertIn("host key", self.refusal(self.url, code="AUTH_FAILED"))

    def test_the_agents_key_is_used(self):
        self.remote.program(self, key=None)
        self.refusal(self.url, code="AUTH_FAILED")
        place = os.path.join(self.tmp, "agent")
        agent = subprocess.Popen(["ssh-agent", "-D", "-a", place], stdout=subprocess.DEVNULL)
        self.addCleanup(agent.wait)
        self.addCleanup(agent.terminate)
        while not os.path.exists(place):
            time.sleep(0.02)
        self.env["SSH_AUTH_SOCK"] = place
        subprocess.run(["ssh-add", "-q", self.remote.path("user")], env=self.env, check=True)
        self.assertEqual(self.fetch(self.url)["tree"], sorted(FILES))

    def test_a_host_that_is_not_there_is_told(self):
        self.remote.program(self)
        self.refusal("ssh://git@nowhere.invalid/x", code="NETWORK_ERROR")
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.refusal(f"ssh://git@127.0.0.1:{probe.getsockname()[1]}/x", code="NETWORK_ERROR")
            probe.listen(1)  # and says nothing
            self.refusal(f"ssh://git@127.0.0.1:{probe.getsockname()[1]}/x", "--timeout", "1s",
                         code="TIMEOUT")
        self.assertEqual(self.clones(), [])

    def test_a_path_that_is_not_there_is_told(self):
        self.remote.program(self)
        self.refusal(self.url + "-not", code="NOT_FOUND")
