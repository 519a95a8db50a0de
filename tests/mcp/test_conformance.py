"""The official conformance suite of MCP against a server that is built on serve/ (fixture.c), for both eras."""

import os
import subprocess

import harness
import node

SUITE = "@modelcontextprotocol/conformance/dist/index.js"
# With a file of expected failures that is empty, warnings count as failures, too.
NOTHING_EXPECTED = "server: []\n"
# Scenarios that no revision demands yet.
MORE = {"2026-07-28": ["json-schema-2020-12", "http-header-validation", "http-custom-header-server-validation"],
        "2025-11-25": ["json-schema-2020-12", "server-session-lifecycle"]}


class Conformance(harness.VcmTest):
    def setUp(self):
        super().setUp()
        self.fixture = subprocess.Popen([os.environ["VCM_MCP_FIXTURE"]], env=self.env, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE)
        self.addCleanup(self.fixture.kill)
        self.url = f"http://127.0.0.1:{int(self.fixture.stdout.readline())}/mcp"
        self.write(self.tmp, {"expected.yml": NOTHING_EXPECTED})

    def tearDown(self):
        self.fixture.terminate()
        out, err = self.fixture.communicate(timeout=harness.TIMEOUT_SECONDS)
        self.assert_no_crash(harness.Result(["fixture"], self.fixture.returncode, out, err))
        self.assertEqual(self.fixture.returncode, 0)

    def run_suite(self, *args):
        return node.run(self, node.package(SUITE), "server", "--url", self.url, *args).stdout.decode()

    def check(self, revision):
        said = self.run_suite("--requirements", revision, "--expected-failures",
                              os.path.join(self.tmp, "expected.yml"))
        self.assertNotIn("WARNING", said)
        for scenario in MORE[revision]:
            said = self.run_suite("--scenario", scenario, "--spec-version", revision)
            self.assertNotIn("FAILURE", said, scenario)

    def test_the_modern_revision_passes_with_nothing_expected_to_fail(self):
        self.check("2026-07-28")

    def test_the_legacy_revision_passes_with_nothing_expected_to_fail(self):
        self.check("2025-11-25")


if __name__ == "__main__":
    harness.main()
