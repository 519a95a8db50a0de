"""Two containers that share a home: each has processes of its own, numbered from 1."""

import json
import os
import signal
import subprocess

import harness


class Containers(harness.VcmTest):
    def setUp(self):
        super().setUp()
        self.repo = self.make_repo({f"d{i}/f": f"file {i}\n" * 50 for i in range(5)})
        self.vcm("map", self.repo, "--scope", "s", check=0)

    def command(self, *args):
        """vcm as the process 1 of a container."""
        unshare = ["unshare", "--pid", "--fork", "--kill-child"]
        if os.geteuid() != 0:
            unshare.append("--map-root-user")
        return [*unshare, self.program, *args, "--json"]

    def contain(self, *args):
        """What vcm prints in a container; it succeeds."""
        run = subprocess.run(self.command(*args), env=self.env, capture_output=True, check=False,
                             timeout=harness.TIMEOUT_SECONDS)
        self.assertEqual(run.returncode, 0, (args, run.stdout, run.stderr))
        return json.loads(run.stdout)

    def start_watch(self):
        """A process 1 that has the store open, and prints what changes."""
        watch = self.run_contained("map", self.repo, "--scope", "s", "--watch")
        self.assertIn(b'"already_mapped"', watch.stdout.readline())
        return watch

    def run_contained(self, *args):
        run = subprocess.Popen(self.command(*args), env=self.env, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)

        def end():
            run.kill()
            run.wait()
            run.stdout.close()
            run.stderr.close()
        self.addCleanup(end)
        return run

    def test_both_read_and_write(self):
        watch = self.start_watch()
        pages = self.contain("pages")["pages"]
        self.assertTrue(pages)
        self.assertGreater(self.contain("stat")["pages"]["total"], 0)
        self.assertEqual(self.contain("page", pages[0]["page_id"])["page_id"],
                         pages[0]["page_id"])
        self.contain("lock", pages[0]["page_id"], "--ttl", "1h")
        self.contain("unlock", pages[0]["page_id"])
        self.contain("evict", pages[-1]["page_id"], "--to", "evicted")
        self.contain("fault", pages[-1]["page_id"])
        other = self.make_repo({"x": "another\n"}, name="other")
        self.assertEqual(self.contain("map", other, "--scope", "t")["status"], "mapped")
        self.contain("symbols", self.repo)
        self.contain("gc")
        self.assertEqual(self.contain("verify")["findings"], [])
        # The first one has noticed none of that, and goes on.
        self.commit(self.repo, {"d1/g": "it still follows\n"})
        self.assertIn(b'"page_', watch.stdout.readline())
        self.vcm("verify", check=0)

    def test_many_at_once(self):
        runs = [self.run_contained(*args) for args in (("stat",), ("pages",), ("map", self.repo, "--scope", "s"), ("verify",)) * 3]
        for run in runs:
            out, err = run.communicate(timeout=harness.TIMEOUT_SECONDS)
            self.assertEqual(run.returncode, 0, (run.args, out, err))

    def test_one_that_was_killed_leaves_nothing_that_hinders_the_next(self):
        for _ in range(3):
            watch = self.start_watch()
            watch.send_signal(signal.SIGKILL)
            watch.wait()
            self.contain("stat")
            self.contain("map", self.repo, "--scope", "s")
        self.vcm("verify", check=0)
