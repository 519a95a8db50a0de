"""What the tests of check, preview and show share: repositories with a map."""

import os

from paging import PagingTest

MAP = ".colony/repo_map.yaml"
DEFAULTS = {"flush_threshold": 20, "flush_token_budget": 4096, "pinned": False}


def map_of(*rows, routes=()):
    """The text of a map: each row and route is the inside of a flow mapping."""
    text = "schema_version: 1\nsources:" + (" []" if not rows else "") + "\n"
    text += "".join(f"  - {{{row}}}\n" for row in rows)
    if routes:
        text += "knowledge_routing:\n" + "".join(f"  - {{{route}}}\n" for route in routes)
    return text


class RepoMapTest(PagingTest):
    def repo_with(self, text, files=(), **options):
        """A repository whose commit holds the map and files (a dict, or names)."""
        files = dict(files) if isinstance(files, dict) else {name: f"{name}\n" for name in files}
        return self.make_repo({MAP: text, **files}, **options)

    def set_map(self, repo, text):
        """Changes the map in the working tree alone."""
        self.write(repo, {MAP: text})

    def report(self, command, *args, check=0, **options):
        return self.vcm(command, "--json", *args, check=check, **options).json()

    def error_of(self, command, *args, check, **options):
        return self.report(command, *args, check=check, **options)["error"]

    def add_submodule(self, repo, other, path, name=None):
        """A real submodule, committed; returns the commit that it is at."""
        self.git(repo, "submodule", "--quiet", "add", *(["--name", name] if name else []), "--",
                 other, path)
        self.commit(repo, {})
        return self.git(os.path.join(repo, path), "rev-parse", "HEAD")
