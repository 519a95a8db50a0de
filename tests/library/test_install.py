"""What `cmake --install` puts where, and that programs can be built against it."""

import os
import tempfile
import unittest

import build

PROGRAM = r"""
#include <stdio.h>
#include <vcm/vcm.h>

int main(int argc, char **argv)
{
    struct vcm_open_options options = {0};
    struct vcm_error err = {0};
    struct vcm_stat stat;
    struct vcm *vcm = NULL;

    options.home = argc > 1 ? argv[1] : NULL;
    if (vcm_open(&vcm, &options, &err) != VCM_OK || vcm_stat(&stat, vcm, &err) != VCM_OK) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    printf("vcm %s, %u scopes\n", vcm_version(), (unsigned)stat.scopes);
    vcm_close(vcm);
    return 0;
}
"""
PROJECT = """cmake_minimum_required(VERSION 3.25)
project(user LANGUAGES C)
find_package(vcm 0.1 REQUIRED)
foreach(kind shared static)
    add_executable(user_${kind} user.c)
    target_link_libraries(user_${kind} PRIVATE vcm::${kind})
endforeach()
"""
FILES = ["bin/vcm", "libexec/vcm/vcm-extract", "include/vcm/vcm.h", "share/man/man1/vcm.1.gz",
         "share/bash-completion/completions/vcm", "share/zsh/vendor-completions/_vcm",
         "share/fish/vendor_completions.d/vcm.fish"]


def lib_dir(prefix):
    """Where the library is: lib, or lib with a folder for the architecture."""
    for folder, _, files in os.walk(os.path.join(prefix, "lib")):
        if "libvcm.so.0" in files:
            return folder
    raise AssertionError("libvcm.so.0 is not installed")


class Install(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory()
        cls.folder = cls.place.name
        cls.prefix = os.path.join(cls.folder, "prefix")
        build.run(["cmake", "--install", build.BUILD, "--prefix", cls.prefix])
        cls.libs = lib_dir(cls.prefix)
        cls.source = os.path.join(cls.folder, "user", "user.c")
        build.write(cls.source, PROGRAM)
        build.write(os.path.join(cls.folder, "user", "CMakeLists.txt"), PROJECT)

    @classmethod
    def tearDownClass(cls):
        cls.place.cleanup()

    def check_program(self, program, **environment):
        out = build.run([program, os.path.join(self.folder, "no-home")],
                        env={**os.environ, **environment})
        self.assertEqual(out, "vcm 0.1.0, 0 scopes\n")

    def pkg_config(self, *arguments):
        environment = {**os.environ, "PKG_CONFIG_PATH": os.path.join(self.libs, "pkgconfig")}
        return build.run(["pkg-config", *arguments, "vcm"], env=environment).split()

    def test_every_file_is_there(self):
        for name in FILES:
            self.assertTrue(os.path.getsize(os.path.join(self.prefix, name)) > 0, name)
        for name in ("libvcm.so", "libvcm.so.0", "libvcm.so.0.1.0", "libvcm.a", "pkgconfig/vcm.pc",
                     "cmake/vcm/vcmConfig.cmake"):
            self.assertTrue(os.path.exists(os.path.join(self.libs, name)), name)

    def test_the_installed_program_runs(self):
        out = build.run([os.path.join(self.prefix, "bin", "vcm"), "--version"])
        self.assertEqual(out, "vcm 0.1.0\n")

    def test_a_program_is_built_with_pkg_config(self):
        program = os.path.join(self.folder, "with_pkg_config")
        build.run([build.CC, "-std=c11", *build.ALL_WARNINGS, *build.FLAGS, self.source, "-o",
                   program, *self.pkg_config("--cflags", "--libs")])
        needed = build.run(["readelf", "-d", program])
        self.assertIn("[libvcm.so.0]", needed)
        self.check_program(program, LD_LIBRARY_PATH=self.libs)

    def test_programs_are_built_with_find_package(self):
        user, out = os.path.join(self.folder, "user"), os.path.join(self.folder, "user-build")
        build.run(["cmake", "-G", "Ninja", "-S", user, "-B", out, f"-DCMAKE_PREFIX_PATH={self.prefix}",
                   f"-DCMAKE_C_COMPILER={build.CC}", f"-DCMAKE_C_FLAGS={' '.join(build.FLAGS)}"])
        build.run(["cmake", "--build", out])
        self.check_program(os.path.join(out, "user_shared"))
        self.check_program(os.path.join(out, "user_static"))


if __name__ == "__main__":
    unittest.main()
