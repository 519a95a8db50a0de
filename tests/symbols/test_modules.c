#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/symbols/resolve_fixture.h"

#include "base/banned.h"

RESOLVE_TEST(commonjs_requires_and_exports_are_imports,
             {{"a.js", "const {total} = require('./lib');\n"
                       "const lib = require('./lib');\n"
                       "const direct = require('./one');\n"
                       "const {sum: total2} = require('./lib');\n"
                       "const part = require('./lib').total;\n"
                       "total();\n"
                       "lib.total();\n"
                       "direct();\n"
                       "part();\n"
                       "require('./lib').total();\n"
                       "function f() { const {total} = require('./lib'); total(); }\n"},
              {"b.js", "const {total} = require('fs');\n"
                       "total();\n"},
              {"lib.js", "function total() {}\n"
                         "module.exports = {total, sum: 1};\n"},
              {"one.js", "module.exports = total;\n"
                         "function total() {}\n"},
              {"deep/index.js", "exports.total = function () {};\n"},
              {"c.js", "const deep = require('./deep');\n"
                       "deep.total();\n"},
              {"again.js", "module.exports = require('./lib');\n"},
              {"d.js", "const {total} = require('./again');\n"
                       "total();\n"},
              {"e.js", "exports.lib = require('./lib');\n"
                       "exports.total = require('./one');\n"},
              {"g.js", "const {lib} = require('./e');\n"
                       "lib.total();\n"}},
             "a.js:1 lib.js:1\n"
             "a.js:5 lib.js:1\n"
             "a.js:6 lib.js:1\n"
             "a.js:7 lib.js:1\n"
             "a.js:8 one.js:2\n"
             "a.js:9 lib.js:1\n"
             "a.js:10 lib.js:1\n"
             "a.js:11 lib.js:1\n"
             "a.js:11 lib.js:1\n"
             "b.js:1 -\n"
             "b.js:2 -\n"
             "c.js:2 deep/index.js:1\n"
             "d.js:1 lib.js:1\n"
             "d.js:2 lib.js:1\n"
             "e.js:2 -\n"
             "g.js:2 lib.js:1\n"
             "lib.js:2 lib.js:1\n"
             "one.js:1 one.js:2\n")

RESOLVE_TEST(a_relative_import_begins_where_its_file_stands,
             {{"a/node.ts", "export function total() {}\n"},
              {"b/node.ts", "export function total() {}\n"},
              {"a/use.ts", "import {total} from './node';\n"
                           "total();\n"},
              {"b/use.ts", "import {total} from '../a/node';\n"
                           "total();\n"},
              {"index.ts", "export function total() {}\n"},
              {"c.ts", "import {total} from '.';\n"
                       "total();\n"},
              {"src/crypto.ts", "export function total() {}\n"},
              {"d.ts", "import {total} from 'crypto';\n"
                       "total();\n"},
              {"e.ts", "import {total} from '../../outside';\n"
                       "total();\n"}},
             "a/use.ts:1 a/node.ts:1\n"
             "a/use.ts:2 a/node.ts:1\n"
             "b/use.ts:1 a/node.ts:1\n"
             "b/use.ts:2 a/node.ts:1\n"
             "c.ts:1 index.ts:1\n"
             "c.ts:2 index.ts:1\n"
             "d.ts:1 -\n"
             "d.ts:2 -\n"
             "e.ts:1 -\n"
             "e.ts:2 -\n")

RESOLVE_TEST(python_finds_packages_and_no_module_of_the_language_in_itself,
             {{"pkg/__init__.py", "from .core import total\n"
                                  "from . import side\n"},
              {"pkg/core.py", "def total(): pass\n"},
              {"pkg/side.py", "def total(): pass\n"},
              {"pkg/asyncio.py", "import asyncio\n"
                                 "asyncio.total()\n"
                                 "def total(): pass\n"},
              {"pkg/sub/__init__.py", ""},
              {"pkg/sub/deep.py", "from ..core import total as sum\n"
                                  "from .. import side\n"
                                  "from pkg import total\n"
                                  "sum()\n"
                                  "side.total()\n"
                                  "total()\n"},
              {"use.py", "import pkg\n"
                         "import pkg.side\n"
                         "from pkg import side as s\n"
                         "pkg.total()\n"
                         "pkg.side.total()\n"
                         "s.total()\n"},
              {"src/other/__init__.py", "def total(): pass\n"},
              {"tests/test_it.py", "from other import total\n"
                                   "total()\n"}},
             "pkg/__init__.py:1 pkg/core.py:1\n"
             "pkg/asyncio.py:2 -\n"
             "pkg/sub/deep.py:1 pkg/core.py:1\n"
             "pkg/sub/deep.py:3 pkg/core.py:1\n"
             "pkg/sub/deep.py:4 pkg/core.py:1\n"
             "pkg/sub/deep.py:5 pkg/side.py:1\n"
             "pkg/sub/deep.py:6 pkg/core.py:1\n"
             "tests/test_it.py:1 src/other/__init__.py:1\n"
             "tests/test_it.py:2 src/other/__init__.py:1\n"
             "use.py:4 pkg/core.py:1\n"
             "use.py:5 pkg/side.py:1\n"
             "use.py:6 pkg/side.py:1\n")

RESOLVE_TEST(what_a_module_passes_on_is_what_it_had_from_another,
             {{"core.ts", "export class total {}\n"
                          "export default function total2() {}\n"},
              {"named.ts", "export {total} from './core';\n"},
              {"renamed.ts", "export {total as sum} from './named';\n"},
              {"all.ts", "export * from './renamed';\n"
                         "export * as names from './named';\n"},
              {"local.ts", "import {total} from './core';\n"
                           "export {total};\n"},
              {"a.ts", "import {total} from './named';\n"
                       "import {sum, names} from './all';\n"
                       "import {total as other} from './local';\n"
                       "new total();\n"
                       "new sum();\n"
                       "new names.total();\n"
                       "new other();\n"},
              {"x.ts", "export * from './y';\n"},
              {"y.ts", "export * from './x';\n"},
              {"b.ts", "import {total} from './x';\n"
                       "total();\n"}},
             "a.ts:1 core.ts:1\n"
             "a.ts:3 core.ts:1\n"
             "a.ts:4 core.ts:1 made\n"
             "a.ts:5 core.ts:1 made\n"
             "a.ts:6 core.ts:1 made\n"
             "a.ts:7 core.ts:1 made\n"
             "b.ts:1 -\n"
             "b.ts:2 -\n"
             "local.ts:1 core.ts:1\n"
             "local.ts:2 core.ts:1\n"
             "named.ts:1 core.ts:1\n"
             "renamed.ts:1 core.ts:1\n")

RESOLVE_TEST(a_name_is_known_by_others,
             {{"a.ts", "import {total as other} from './core';\n"
                       "import Sum from './core';\n"
                       "import * as core from './core';\n"
                       "other();\n"
                       "Sum();\n"
                       "core.total();\n"},
              {"core.ts", "export default function total() {}\n"
                          "export {total};\n"},
              {"b.py", "from shop import total as other\n"
                       "other()\n"},
              {"shop.py", "def total(): pass\n"}},
             "a.ts:1 core.ts:1\n"
             "a.ts:2 core.ts:1\n"
             "a.ts:4 core.ts:1\n"
             "a.ts:5 core.ts:1\n"
             "a.ts:6 core.ts:1\n"
             "b.py:1 shop.py:1\n"
             "b.py:2 shop.py:1\n"
             "core.ts:2 core.ts:1\n")

RESOLVE_TEST(overloads_are_one_function,
             {{"a.ts", "export function total(a: string): void;\n"
                       "export function total(a: number): void;\n"
                       "export function total(a: any): void {}\n"},
              {"b.ts", "import {total} from './a';\n"
                       "total();\n"},
              {"lib/types.d.ts", "export declare function total(): void;\n"},
              {"c.ts", "import {total} from './lib/types';\n"
                       "total();\n"},
              {"d.py", "@overload\n"
                       "def total(a: str): ...\n"
                       "@overload\n"
                       "def total(a: int): ...\n"
                       "def total(a): pass\n"
                       "total()\n"}},
             "b.ts:1 a.ts:1\n"
             "b.ts:2 a.ts:1\n"
             "c.ts:1 lib/types.d.ts:1\n"
             "c.ts:2 lib/types.d.ts:1\n"
             "d.py:6 d.py:2\n")

RESOLVE_TEST(packages_and_configurations_of_the_tree_name_modules,
             {{"package.json", "{\"name\": \"root\", \"imports\": {\"#in/*\": \"./src/*.js\"}}"},
              {"tsconfig.json", "{ // where names begin\n"
                                "  \"compilerOptions\": {\"baseUrl\": \"src\",\n"
                                "    \"paths\": {\"@lib/*\": [\"lib/*\"],},},\n"
                                "  \"extends\": \"./tsconfig\" }"},
              {"src/lib/a.ts", "export function total() {}\n"},
              {"packages/b/package.json",
               "{\"name\": \"@x/b\", \"exports\": {\".\": {\"types\": \"./dist/index.d.ts\"},"
               " \"./part\": \"./part.ts\", \"./up\": \"../../../../etc/passwd\"}}"},
              {"packages/b/src/index.ts", "export function total() {}\n"},
              {"packages/b/part.ts", "export function total() {}\n"},
              {"bad/package.json", "{\"name\": [1, {\"exports\": "},
              {"bad/tsconfig.json", "\"a\""},
              {"bad/c.ts", "import {total} from '@x/b/up';\n"
                           "total();\n"},
              {"u.ts", "import {total} from '@lib/a';\n"
                       "total();\n"},
              {"v.ts", "import {total} from '@x/b';\n"
                       "import {total as part} from '@x/b/part';\n"
                       "total();\n"
                       "part();\n"},
              {"w.ts", "import {total} from '#in/lib/a';\n"
                       "total();\n"},
              {"x.ts", "import {total} from 'lib/a';\n"
                       "total();\n"},
              {"y.ts", "import {total} from 'lib';\n"
                       "total();\n"}},
             "bad/c.ts:1 -\n"
             "bad/c.ts:2 -\n"
             "u.ts:1 src/lib/a.ts:1\n"
             "u.ts:2 src/lib/a.ts:1\n"
             "v.ts:1 packages/b/src/index.ts:1\n"
             "v.ts:2 packages/b/part.ts:1\n"
             "v.ts:3 packages/b/src/index.ts:1\n"
             "v.ts:4 packages/b/part.ts:1\n"
             "w.ts:1 src/lib/a.ts:1\n"
             "w.ts:2 src/lib/a.ts:1\n"
             "x.ts:1 src/lib/a.ts:1\n"
             "x.ts:2 src/lib/a.ts:1\n"
             "y.ts:1 -\n"
             "y.ts:2 -\n")

RESOLVE_TEST(go_imports_by_the_path_that_its_module_has,
             {{"go.mod", "module example.com/root\n"},
              {"shop/shop.go", "package shop\nfunc total() {}\nfunc Total() {}\n"},
              {"fmt/fmt.go", "package fmt\nfunc total() {}\n"},
              {"a/a.go", "package a\n"
                         "import \"example.com/root/shop\"\n"
                         "import \"other.org/x/shop2\"\n"
                         "func f() { shop.total(); shop2.total() }\n"},
              {"b/b.go", "package b\n"
                         "import \"elsewhere.org/root/shop\"\n"
                         "func f() { shop.total() }\n"}},
             "a/a.go:4 shop/shop.go:2\n"
             "a/a.go:4 -\n"
             "b/b.go:3 -\n")

/* Each file passes on what the next one has. */
static void a_thousand_levels_are_followed(void **state)
{
    enum { LEVELS = 1000 };
    static char paths[LEVELS + 1][16], texts[LEVELS + 1][64];
    struct vcm_git_repo *git = NULL;
    struct vcm_index *index = NULL;
    struct vcm_buf found = VCM_BUF_INIT(1 * VCM_MIB);
    struct vcm_error err = {0};
    struct test_repo repo, home;

    (void)state;
    test_repo_init(&repo);
    test_repo_init_directory(&home);
    for (int i = 0; i <= LEVELS; i++) {
        snprintf(paths[i], sizeof paths[i], "m%d.ts", i);
        snprintf(texts[i], sizeof texts[i], "export * from './m%d';\n", i + 1);
        test_repo_write_text(&repo, paths[i],
                             i < LEVELS ? texts[i] : "export function total() {}\n");
    }
    test_repo_write_text(&repo, "use.ts", "import {total} from './m0';\n");
    test_repo_commit(&repo, "files");
    assert_int_equal(vcm_git_repo_open(&git, repo.path, &err), VCM_OK);
    assert_int_equal(
        vcm_index_open(
            &index,
            &(struct vcm_index_request){
                .directory = home.path, .repo = git, .subpath = "", .takes = takes, .workers = 1},
            &err),
        VCM_OK);
    void *context[] = {&found, index};
    assert_int_equal(
        vcm_resolve_visit(index,
                          &(struct vcm_resolve_query){.name = vcm_slice_of_string("total"),
                                                      .only_file = vcm_slice_of("", 0)},
                          show, context, &err),
        VCM_OK);
    assert_string_equal(vcm_buf_text(&found), "use.ts:1 m1000.ts:1\n");
    vcm_index_close(index);
    vcm_git_repo_close(git);
    vcm_buf_release(&found);
    test_repo_release(&home);
    test_repo_release(&repo);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commonjs_requires_and_exports_are_imports),
        cmocka_unit_test(a_relative_import_begins_where_its_file_stands),
        cmocka_unit_test(python_finds_packages_and_no_module_of_the_language_in_itself),
        cmocka_unit_test(what_a_module_passes_on_is_what_it_had_from_another),
        cmocka_unit_test(a_name_is_known_by_others),
        cmocka_unit_test(overloads_are_one_function),
        cmocka_unit_test(packages_and_configurations_of_the_tree_name_modules),
        cmocka_unit_test(go_imports_by_the_path_that_its_module_has),
        cmocka_unit_test(a_thousand_levels_are_followed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
