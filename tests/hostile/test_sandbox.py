"""The sandbox of vcm-extract on kernels that lack a part of it: PDFs are then not read, unless the
user accepts that."""

import ctypes
import errno
import json
import subprocess

import harness
import pdf

ALLOW, ERRNO = 0x7FFF0000, 0x00050000
LANDLOCK_CREATE_RULESET = 444  # on every architecture


class Sandbox(harness.VcmTest):
    def without(self, call):
        """A function that makes a system call fail in this process and its children, as if the
        kernel did not have it."""
        library = ctypes.CDLL("libseccomp.so.2")
        library.seccomp_init.restype = ctypes.c_void_p
        library.seccomp_rule_add.argtypes = [ctypes.c_void_p, ctypes.c_uint32, ctypes.c_int,
                                             ctypes.c_uint]
        library.seccomp_load.argtypes = [ctypes.c_void_p]

        def forbid():
            rules = library.seccomp_init(ALLOW)
            if (library.seccomp_rule_add(rules, ERRNO | errno.ENOSYS, call, 0) != 0
                    or library.seccomp_load(rules) != 0):
                raise OSError("cannot load a filter")

        return forbid

    def run_without(self, call, *args, env=None):
        run = subprocess.run([self.program, *args, "--json"], cwd=self.tmp,
                             env={**self.env, **(env or {})}, preexec_fn=self.without(call),
                             stdin=subprocess.DEVNULL, capture_output=True, check=False,
                             timeout=harness.TIMEOUT_SECONDS)
        return run.returncode, json.loads(run.stdout)

    def ingest_without(self, call, **env):
        self.write(self.tmp, {"paper.pdf": pdf.make([pdf.prose("A line of text.")])})
        status, document = self.run_without(call, "kb", "ingest", "paper.pdf", env=env)
        [file] = document["files"]
        return status, file

    def test_without_landlock_no_pdf_is_read_and_the_remedy_is_named(self):
        status, file = self.ingest_without(LANDLOCK_CREATE_RULESET)
        self.assertEqual((status, file["status"]), (1, "failed"))
        self.assertIn("landlock", file["message"])
        self.assertIn("VCM_EXTRACT_SANDBOX=partial", file["message"])

    def test_with_the_users_consent_the_rest_of_the_sandbox_has_to_do(self):
        _, file = self.ingest_without(LANDLOCK_CREATE_RULESET, VCM_EXTRACT_SANDBOX="partial")
        self.assertEqual(file["status"], "ingested")

    def test_other_values_are_no_consent(self):
        _, file = self.ingest_without(LANDLOCK_CREATE_RULESET, VCM_EXTRACT_SANDBOX="1")
        self.assertEqual(file["status"], "failed")

    def test_doctor_says_what_is_missing(self):
        _, document = self.run_without(LANDLOCK_CREATE_RULESET, "doctor")
        [finding] = [finding for finding in document["findings"] if finding["check"] == "pdf"]
        self.assertEqual(finding["status"], "warning")
        self.assertIn("landlock", finding["detail"])
