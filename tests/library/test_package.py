"""The Debian package. Slow, so only in a long run (label "long").

It is installed by dpkg in a folder of its own, where its programs and libraries then run; what it
depends on is this machine's.
"""

import glob
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

import build
from test_install import PROGRAM, PROJECT

TRIPLET = subprocess.run(["dpkg-architecture", "-qDEB_HOST_MULTIARCH"], check=True,
                         stdout=subprocess.PIPE, text=True).stdout.strip()
SCRIPT = """
import asyncio, sys, vcm
async def main():
    async with vcm.VirtualContextManager(sys.argv[1]) as manager:
        result = await manager.mmap_application_scope(scope_id="s", origin_url=sys.argv[2])
        page, = await manager.get_pages_for_scope("s")
        print(result.status, bytes(page.text[:8]).decode(), vcm.__file__)
asyncio.run(main())
"""


class Package(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory()
        cls.folder = cls.place.name
        build.run(["cpack", "-G", "DEB", "-B", cls.folder], cwd=build.BUILD)
        cls.package, = glob.glob(os.path.join(cls.folder, "*.deb"))
        cls.root = os.path.join(cls.folder, "root")
        cls.libs = os.path.join(cls.root, "usr", "lib", TRIPLET)
        for name in ("info", "updates"):
            os.makedirs(os.path.join(cls.root, "var", "lib", "dpkg", name))
        for name in ("status", "available"):
            build.write(os.path.join(cls.root, "var", "lib", "dpkg", name), "")
        cls.dpkg("-i", cls.package)
        cls.repo = os.path.join(cls.folder, "repo")
        build.write(os.path.join(cls.repo, "a.c"), "int a;\n")
        git = ["git", "-C", cls.repo, "-c", "user.name=t", "-c", "user.email=t@example.org"]
        for arguments in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "first"]):
            build.run([*git, *arguments])

    @classmethod
    def tearDownClass(cls):
        cls.place.cleanup()

    @classmethod
    def dpkg(cls, *arguments):
        """dpkg on the folder alone. What the package depends on is not there."""
        return build.run(["dpkg", "--root", cls.root, "--force-not-root", "--force-depends",
                          "--force-script-chrootless", *arguments])

    def control(self, name):
        return build.run(["dpkg-deb", "-f", self.package, name]).strip()

    def installed(self):
        """The files of the package, as they are installed."""
        return [line for line in self.dpkg("-L", "vcm").splitlines()
                if os.path.isfile(self.root + line)]

    def environment(self, **more):
        return {**os.environ, "LD_LIBRARY_PATH": self.libs,
                "VCM_HOME": os.path.join(self.folder, "home"), **more}

    def test_lintian_finds_nothing(self):
        build.run(["lintian", "--fail-on", "error,warning", "--allow-root", self.package])

    def test_it_depends_on_what_it_uses_and_nothing_else(self):
        depends = {re.split(r"[ :(]", part.strip())[0]
                   for part in self.control("Depends").split(",")}
        libraries = set()
        for name in self.installed():
            with open(self.root + name, "rb") as file:
                if file.read(4) != b"\x7fELF":
                    continue
            needed = set(re.findall(r"NEEDED.*\[(.*)\]", build.run(
                ["readelf", "-d", self.root + name])))
            libraries |= {os.path.basename(os.path.realpath(path)) for library, path in re.findall(
                r"^\s*(\S+) => (/\S+)", build.run(["ldd", self.root + name]), flags=re.MULTILINE)
                          if library in needed}
        libraries |= {name for name in re.findall(  # which is loaded when it is needed
            r"libgit2\.so\.[0-9.]+", build.run(["strings", os.path.join(self.libs, "libvcm.so")]))}
        self.assertTrue(any(name.startswith("libgit2") for name in libraries))
        owners = build.run(["dpkg", "-S", *sorted(f"*/{TRIPLET}/{name}" for name in libraries)])
        found = {"git", "python3", *re.findall(r"^([^:,]+)", owners, flags=re.MULTILINE)}
        found.discard("libgcc-s1")
        self.assertEqual(depends - {"libgcc-s1"}, found)

    def test_the_library_is_where_its_architecture_has_them(self):
        for name in ("libvcm.so.0", "libvcm.so", "libvcm.a", "pkgconfig/vcm.pc",
                     "cmake/vcm/vcmConfig.cmake"):
            self.assertTrue(os.path.exists(os.path.join(self.libs, name)), name)
        stray = [name for name in self.installed() if "libvcm" in name and TRIPLET not in name]
        self.assertEqual(stray, [])

    def test_what_a_user_looks_for_is_there(self):
        for name in ("bin/vcm", "libexec/vcm/vcm-extract", "include/vcm/vcm.h",
                     "include/vcm/types.h", "share/man/man1/vcm.1.gz", "share/doc/vcm/copyright",
                     "share/bash-completion/completions/vcm", "share/zsh/vendor-completions/_vcm",
                     "share/fish/vendor_completions.d/vcm.fish",
                     "lib/python3/dist-packages/vcm/py.typed"):
            self.assertIn("/usr/" + name, self.installed())

    def test_the_licence_of_everything_that_is_linked_in_is_named(self):
        with open(os.path.join(self.root, "usr/share/doc/vcm/copyright"), encoding="utf-8") as file:
            text = file.read()
        with open(os.path.join(build.SOURCE, "package.json"), encoding="utf-8") as file:
            packages = json.load(file)["dependencies"]
        named = re.findall(r"^Files: node_modules/(\S+)/\*$", text, flags=re.MULTILINE)
        self.assertEqual(set(packages) - set(named), set())
        used, told = (set(re.findall(pattern, text, flags=re.MULTILINE)) for pattern in (
            r"^License: (\S+)$", r"^License: (\S+)\n ."))
        self.assertEqual(used, told)

    def test_the_program_maps_and_finds_its_helper(self):
        vcm = os.path.join(self.root, "usr/bin/vcm")
        self.assertEqual(build.run([vcm, "--version"]), "vcm 0.1.0\n")
        out = build.run([vcm, "map", self.repo, "--json"], env=self.environment())
        self.assertEqual(json.loads(out)["status"], "mapped")
        places = build.run(["strings", "-n", "8", vcm])
        self.assertIn("../libexec/vcm", places)

    def test_programs_are_built_against_it(self):
        source, user = os.path.join(self.folder, "user.c"), os.path.join(self.folder, "user")
        build.write(source, PROGRAM)
        flags = build.run(["pkg-config", "--cflags", "--libs", "vcm"], env=self.environment(
            PKG_CONFIG_PATH=os.path.join(self.libs, "pkgconfig"))).split()
        self.assertTrue(all(any(flag.startswith(kind + self.root) for flag in flags)
                            for kind in ("-I", "-L")), flags)
        build.run([build.CC, "-std=c11", *build.FLAGS, source, "-o", user, *flags])
        self.assertEqual(build.run([user, "/nonexistent/home"], env=self.environment()),
                         "vcm 0.1.0, 0 scopes\n")

        build.write(os.path.join(self.folder, "project", "user.c"), PROGRAM)
        build.write(os.path.join(self.folder, "project", "CMakeLists.txt"), PROJECT)
        out = os.path.join(self.folder, "project-build")
        build.run(["cmake", "-G", "Ninja", "-S", os.path.join(self.folder, "project"),
                   "-B", out, f"-DCMAKE_PREFIX_PATH={self.root}/usr", f"-DCMAKE_C_COMPILER={build.CC}",
                   f"-DCMAKE_C_FLAGS={' '.join(build.FLAGS)}"])
        build.run(["cmake", "--build", out])

    def test_python_imports_it(self):
        preload = os.environ.get("VCM_PRELOAD", "")
        extra = {"LD_PRELOAD": preload, "ASAN_OPTIONS": "detect_leaks=0"} if preload else {}
        packages = os.path.join(self.root, "usr/lib/python3/dist-packages")
        environment = self.environment(PYTHONPATH=packages, PYTHONDONTWRITEBYTECODE="1", **extra)
        environment.pop("VCM_LIBRARY", None)
        out = build.run([sys.executable, "-c", SCRIPT, os.path.join(self.folder, "home-of-python"),
                         self.repo], env=environment)
        self.assertEqual(out, 'mapped {"path": ' + f"{packages}/vcm/__init__.py\n")

    def test_zz_it_goes_without_a_trace(self):
        packages = os.path.join(self.root, "usr/lib/python3/dist-packages/vcm")
        build.write(os.path.join(packages, "__pycache__", "types.cpython-311.pyc"), "compiled")
        self.dpkg("-P", "vcm")
        self.assertEqual([name for _, _, files in os.walk(os.path.join(self.root, "usr"))
                          for name in files], [])
        self.assertFalse(os.path.exists(packages))


if __name__ == "__main__":
    unittest.main()
