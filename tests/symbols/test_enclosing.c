#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/limits.h"
#include "base/utf8.h"
#include "symbols/enclosing.h"

#include "base/banned.h"

static void find(struct vcm_buf *out, const char *path, struct vcm_slice text, size_t offset)
{
    struct vcm_enclosing *enclosing;

    assert_int_equal(vcm_enclosing_open(&enclosing, NULL), VCM_OK);
    vcm_enclosing_begin(enclosing, vcm_slice_of_string(path), text);
    vcm_enclosing_find(out, enclosing, offset);
    vcm_enclosing_close(enclosing);
}

/* The part begins at the line that has "HERE", or with `inside` at that word. */
static void check(const char *path, const char *text, const char *expected, bool inside)
{
    struct vcm_buf out = VCM_BUF_INIT(4096);
    const char *here = strstr(text, "HERE");
    const char *line = here;

    assert_non_null(here);
    while (!inside && line > text && line[-1] != '\n')
        line--;
    find(&out, path, vcm_slice_of_string(text), (size_t)(line - text));
    if (strcmp(vcm_buf_text(&out), expected) != 0)
        fail_msg("%s: '%s' instead of '%s' in\n%s", path, vcm_buf_text(&out), expected, text);
    vcm_buf_release(&out);
}

static const struct {
    const char *path, *text, *expected;
} cases[] = {
    {"a.c", "int f(int x)\n{\n    a;\n    HERE;\n}\n", "int f(int x)"},
    {"a.c", "static int\nf(int a,\n  int b)\n{\n\tif (a) {\n\t\tHERE;\n", "f(int a, int b)"},
    {"a.c", "struct page *find(int x) {\n    each(x) {\n        HERE;\n",
     "struct page *find(int x)"},
    {"a.c", "static const int t[] = {\n    1,\n    HERE,\n};\n", "static const int t[]"},
    {"a.c", "struct shop {\n    int a;\n    int HERE;\n};\n", "struct shop"},
    {"a.c", "void f(void)\n{\n    a;\nout:\n#ifdef X\n    HERE;\n}\n", "void f(void)"},
    {"a.c", "void f(void)\n{\n    /*\nint g(void)\n{\n    */\n    HERE;\n}\n", "void f(void)"},
    {"a.c", "void f(void)\n{\n    int x;\n    struct a *HERE = b(c);\n}\n", "void f(void)"},
    {"a.cpp", "namespace n {\nclass A : public B\n{\npublic:\n    void f()\n    {\n        HERE;\n",
     "class A : public B > void f()"},
    {"a.cc", "A::A(int x) : b(x) {\n  HERE;\n", "A::A(int x) : b(x)"},
    {"A.java", "class A {\n    @Override\n    public int f(int x) throws E {\n        HERE;\n",
     "class A > public int f(int x) throws E"},
    {"a.cs", "namespace N\n{\n    class A\n    {\n        int F()\n        {\n            HERE;\n",
     "namespace N > class A > int F()"},
    {"a.js", "export class A {\n  f(x) {\n    if (x) {\n      HERE;\n", "export class A > f(x)"},
    {"a.js", "const f = async (x) => {\n  HERE;\n", "const f = async (x)"},
    {"a.js", "describe('x', () => {\n  HERE;\n", ""},
    {"a.ts", "function f(\n  x: number,\n): void {\n  const t = `\nclass B {\n`;\n  HERE;\n",
     "function f( x: number, ): void"},
    {"a.go", "func (s *Shop) Total() int {\n\tfor {\n\t\tHERE\n", "func (s *Shop) Total() int"},
    {"a.rs", "impl<T> Shop<T> {\n    pub(crate) fn total<'a>(x: &'a str) -> u8 {\n        HERE;\n",
     "impl<T> Shop<T> > pub(crate) fn total<'a>(x: &'a str) -> u8"},
    {"a.py", "class Till(Base):\n    x = 1\n\n    def count(self, n):  # why\n        HERE\n",
     "class Till(Base) > def count(self, n)"},
    {"a.py", "def f(\n    a,\n):\n    \"\"\"Text\n\ndef g():\n    \"\"\"\n    HERE\n",
     "def f( a, )"},
    {"a.py", "TABLE = {\n    'a': 1,\n    'HERE': 2,\n}\n", "TABLE"},
    {"a.py", "def f():\n    pass\n\nif x:\n    HERE\n", ""},
    {"a.rb", "module A\n  class B < C\n    def f(x)\n      HERE\n    end\n",
     "module A > class B < C > def f(x)"},
    {"a.lua", "local function f(x)\n  HERE\nend\n", "local function f(x)"},
    {"a.lua", "M.f = function(x)\n  HERE\nend\n", "M.f = function(x)"},
    {"a.sh", "f() {\n  HERE\n}\n", "f()"},
    {"a.kt", "class A(val x: Int) : B() {\n    fun f(): Int {\n        HERE\n",
     "class A(val x: Int) : B() > fun f(): Int"},
    {"a.swift", "extension A {\n    init(x: Int) {\n        HERE\n", "extension A > init(x: Int)"},
    {"a.scala", "object A {\n  def f(x: Int): Int = {\n    HERE\n",
     "object A > def f(x: Int): Int"},
    {"a.php", "<?php\nclass A\n{\n    public function f($x)\n    {\n        HERE;\n",
     "class A > public function f($x)"},
    {"a.ex", "defmodule A.B do\n  def f(x) do\n    HERE\n", "defmodule A.B > def f(x)"},
    {"a.hs", "instance Show A where\n  show x =\n    HERE\n", "instance Show A > show x"},
    {"a.ml", "let rec f (x : int) =\n  HERE\n", "let rec f (x : int)"},
    {"a.sql", "CREATE TABLE shop (\n    id int,\n    HERE int\n);\n",
     "CREATE TABLE shop ( id int, HERE int )"},
    {"a.r", "f <- function(x) {\n  HERE\n}\n", "f <- function(x)"},
    {"a.zig", "pub fn f(x: u8) void {\n    HERE;\n", "pub fn f(x: u8) void"},
    {"a.pl", "sub f {\n    HERE;\n}\n", "sub f"},
    {"a.el", "(defun f (x)\n  HERE)\n", "(defun f (x)"},
    {"a.md", "# A\n\n## B\n\n```\n# no\n```\n\ntext HERE\n", "A > B"},
};

static void the_definition_around_a_line_is_named(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        check(cases[i].path, cases[i].text, cases[i].expected, false);
}

static void a_part_that_begins_with_a_definition_has_none(void **state)
{
    (void)state;
    check("a.c", "int f(void)\n{\n    a;\n}\n\nint g(int HERE)\n{\n    b;\n}\n", "", false);
    check("a.c", "int f(void)\n{\n    a;\n}\n\n/* HERE\n * more. */\nint g(void)\n{\n}\n", "",
          false);
    check("a.py", "class A:\n    def f(self):\n        a\n\n    @HERE\n    def g(self):\n", "",
          false);
    check("a.py", "class A:\n    def f(self):\n        a\n\n    # HERE\n    def g(self):\n", "",
          false);
    check("a.md", "# A\n\ntext\n\n## HERE\n\ntext\n", "", false);
}

static void what_nothing_encloses_has_none(void **state)
{
    (void)state;
    check("a.c", "int f(void)\n{\n    a;\n}\n\n#define HERE 1\n\nint x;\n", "", false);
    check("a.c", "int x;\nint HERE;\n", "", false);
    check("a.txt", "Chapter\n    HERE\n", "", false);
    check("a.json", "{\n  \"class a\": [\n    HERE\n", "", false);
    check("a.py", "def f():\n    a\n\nHERE = 1\n", "", false);
}

/* The end of a block, and the brace with which it begins, belong to it. */
static void the_ends_of_a_block_are_in_it(void **state)
{
    (void)state;
    check("a.c", "int f(void)\n{\n    a;\n} /* HERE */\n\nint g(void)\n{\n}\n", "int f(void)",
          false);
    check("a.c", "int f(void)\n{ /* HERE */\n    a;\n}\n", "int f(void)", false);
    check("a.rb", "def f\n  a\nend # HERE\n", "def f", false);
}

static void a_part_inside_of_a_line_is_in_the_definition_of_the_line(void **state)
{
    (void)state;
    check("a.js", "function f(x){a;HERE;}", "function f(x)", true);
    check("a.c", "void f(void)\n{\n    a(\"HERE\");\n", "void f(void)", true);
}

static void a_heading_is_one_line_of_bounded_length(void **state)
{
    struct vcm_buf text = VCM_BUF_INIT(VCM_MIB), out = VCM_BUF_INIT(4096);

    (void)state;
    check("a.c", "int f(void)\r```\r## x\x1b\n{\n    HERE;\n", "int f(void) ``` ## x", false);
    for (unsigned depth = 0; depth < 40; depth++) {
        for (unsigned i = 0; i < depth; i++)
            vcm_buf_append_byte(&text, ' ');
        vcm_buf_append_format(&text, "class c%u", depth);
        for (unsigned i = 0; i < 50; i++)
            vcm_buf_append_string(&text, "\xc3\xa9");
        vcm_buf_append_string(&text, ":\n");
    }
    size_t end = text.len;
    vcm_buf_append_format(&text, "%60s\n", "x");
    find(&out, "a.py", vcm_buf_slice(&text), end);
    assert_true(out.len > 200 && out.len <= VCM_LIMIT_CONTEXT_LINE_BYTES);
    assert_true(vcm_utf8_valid(vcm_buf_slice(&out)));
    assert_non_null(strstr(vcm_buf_text(&out), "class c39"));
    assert_null(strstr(vcm_buf_text(&out), "class c1\xc3"));
    vcm_buf_release(&text);
    vcm_buf_release(&out);
}

/* Each offset in turn, whatever the text: nothing is read beyond it, and a file that is begun anew
 * is not told from the one before. */
static void every_offset_of_any_text_has_the_same_heading_however_it_is_reached(void **state)
{
    static const char *const pieces[] = {
        "class A {\n", "  def f(x):\n", "    x = [\n", "/*", "*/\n",  "\"\"\"", "'''\n",
        "`",           "{\n",           "}\n",         "\n", "\t",    "#",      "end\n",
        "\r",          "\xc3\xa9",      "(",           ")",  "# T\n", ";"};
    static const char *const paths[] = {"a.c", "a.py", "a.js", "a.rb", "a.md", "a.lua", "a.hs"};
    struct vcm_enclosing *enclosing;

    (void)state;
    srand(7);
    assert_int_equal(vcm_enclosing_open(&enclosing, NULL), VCM_OK);
    for (unsigned round = 0; round < 300; round++) {
        struct vcm_buf text = VCM_BUF_INIT(VCM_MIB);
        const char *path = paths[round % (sizeof paths / sizeof paths[0])];
        for (unsigned i = 0; i < 30; i++)
            vcm_buf_append_string(
                &text, pieces[(unsigned)rand() % (unsigned)(sizeof pieces / sizeof pieces[0])]);
        char *copy = malloc(text.len); /* AddressSanitizer sees a read beyond it */
        assert_non_null(copy);
        memcpy(copy, text.data, text.len);
        vcm_enclosing_begin(enclosing, vcm_slice_of_string(path), vcm_slice_of(copy, text.len));
        for (size_t at = 1; at <= text.len; at += 1 + (unsigned)rand() % 3) {
            struct vcm_buf step = VCM_BUF_INIT(4096), once = VCM_BUF_INIT(4096);
            vcm_enclosing_find(&step, enclosing, at);
            find(&once, path, vcm_slice_of(copy, text.len), at);
            assert_string_equal(vcm_buf_text(&step), vcm_buf_text(&once));
            vcm_buf_release(&step);
            vcm_buf_release(&once);
        }
        free(copy);
        vcm_buf_release(&text);
    }
    vcm_enclosing_close(enclosing);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_definition_around_a_line_is_named),
        cmocka_unit_test(a_part_that_begins_with_a_definition_has_none),
        cmocka_unit_test(what_nothing_encloses_has_none),
        cmocka_unit_test(the_ends_of_a_block_are_in_it),
        cmocka_unit_test(a_part_inside_of_a_line_is_in_the_definition_of_the_line),
        cmocka_unit_test(a_heading_is_one_line_of_bounded_length),
        cmocka_unit_test(every_offset_of_any_text_has_the_same_heading_however_it_is_reached),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
