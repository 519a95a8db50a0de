"""vcm unmap: scopes go, and with them the pages that only they hold."""

from harness import VcmTest


class Unmap(VcmTest):
    def setUp(self):
        super().setUp()
        self.repo = self.make_repo({"a": "one\n", "dir/b": "two\n"})

    def scopes(self):
        return [scope["scope_id"] for scope in self.vcm("scopes", "--json").json()["scopes"]]

    def test_shared_pages_stay_until_their_last_scope_goes(self):
        for scope in ("sample-one", "sample-two"):
            self.vcm("map", self.repo, "--scope", scope, check=0)
        pages = self.vcm("stat", "--json").json()["pages"]["total"]
        result = self.vcm("unmap", "sample-one", "--json", check=0)
        self.assertEqual(result.json(), {"unmapped": ["sample-one"]})
        self.assertEqual(self.scopes(), ["sample-two"])
        self.assertEqual(self.vcm("stat", "--json").json()["pages"]["total"], pages)
        self.assertEqual(self.vcm("unmap", "sample-t", check=0).out, "unmapped sample-two\n")
        stat = self.vcm("stat", "--json").json()
        self.assertEqual((stat["pages"]["total"], stat["tokens"], stat["bytes"]["resident"]),
                         (0, 0, 0))

    def test_a_base_stands_for_all_its_scopes(self):
        self.commit(self.repo, {".colony/repo_map.yaml":
                                "schema_version: 1\nsources:\n"
                                "  - {name: all, type: git_repo}\n"
                                "  - {name: dir, type: git_repo, start_dir: dir}\n"})
        self.vcm("map", self.repo, "--scope", "family", check=0)
        self.vcm("map", self.repo, "--scope", "family2", check=0)
        result = self.vcm("unmap", "family", "--json", check=0).json()
        self.assertEqual(result["unmapped"], ["family:all", "family:dir"])
        self.assertEqual(self.scopes(), ["family2:all", "family2:dir"])

    def test_what_is_not_mapped_is_not_found(self):
        result = self.vcm("unmap", "nothing-here", "--json", check=1)
        self.assertEqual(result.json()["error"]["code"], "NOT_FOUND")
        self.vcm("map", self.repo, "--scope", "sample-one", check=0)
        self.vcm("map", self.repo, "--scope", "sample-two", check=0)
        error = self.vcm("unmap", "sample", "--json", check=1).json()["error"]
        self.assertEqual(error["code"], "AMBIGUOUS")
        self.assertEqual(error["details"]["candidates"], ["sample-one", "sample-two"])
        self.assertEqual(len(self.scopes()), 2)
