"""What the style checks share: the files of a checkout, and how findings are reported."""

import os
import subprocess
import sys


def files(root, *suffixes):
    """Paths relative to root of all files that are, or could be, committed; sorted."""
    listing = subprocess.run(
        ["git", "-c", "safe.directory=*", "-C", root, "ls-files", "-z", "--cached", "--others",
         "--exclude-standard"], capture_output=True, check=False)
    if listing.returncode == 0:
        paths = set(os.fsdecode(listing.stdout).split("\0")) - {""}
        paths = {path for path in paths if os.path.isfile(os.path.join(root, path))}
    else:
        paths = set(walk(root))
    return sorted(path for path in paths if not suffixes or path.endswith(suffixes))


def walk(root):
    """The files of a tree that is no git checkout (a release archive, a test's own tree)."""
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name not in ("build", "node_modules", ".git")]
        for name in names:
            yield os.path.relpath(os.path.join(folder, name), root)


def read(root, path):
    with open(os.path.join(root, path), encoding="utf-8", errors="surrogateescape") as file:
        return file.read()


def report(findings, checked, what):
    """Prints the findings and exits; checking nothing at all is a failure too."""
    for finding in findings:
        print(finding)
    print(f"{checked} {what} checked, {len(findings)} findings")
    sys.exit(1 if findings or not checked else 0)
