"""Runs one file of command-line tests for ctest.

usage: run.py MODULE

All that vcm printed with --json meanwhile is held against `vcm schema`.

Exit status: 0 passed, 1 failed or no test found, 77 every test was skipped.
"""

import sys
import unittest

import validated

SKIPPED = 77


def main(module):
    suite = unittest.defaultTestLoader.loadTestsFromName(module)
    result = unittest.TextTestRunner(verbosity=2).run(suite)
    if not result.testsRun:
        print(f"{module}: no tests", file=sys.stderr)
        return 1
    findings = validated.check()
    if findings:
        print(f"{module}: documents that are not as described\n{findings}", file=sys.stderr)
    if findings or not result.wasSuccessful():
        return 1
    return SKIPPED if len(result.skipped) == result.testsRun else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
