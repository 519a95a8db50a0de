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

RESOLVE_TEST(typescript_finds_members_by_the_types_that_are_written,
             {{"shop.ts",
               "export class Base { total() {} }\n"
               "export class Shop extends Base { next: Shop; find(): Shop { return this; } }\n"
               "export interface Till { total(): void }\n"
               "export class Desk implements Till { total() {} }\n"},
              {"a.ts", "import {Shop, Till} from './shop';\n"
                       "import * as all from './shop';\n"
                       "class Use {\n"
                       "  private shop: Shop;\n"
                       "  constructor(private other: all.Desk) {}\n"
                       "  run(s: Shop, t: Till | undefined, xs: Shop[], x) {\n"
                       "    s.total();\n"
                       "    t.total();\n"
                       "    this.shop.total();\n"
                       "    this.other.total();\n"
                       "    s.next.find().total();\n"
                       "    const made = new Shop();\n"
                       "    made.total();\n"
                       "    xs[0].total();\n"
                       "    for (const one of xs) one.total();\n"
                       "    x.total();\n"
                       "    xs.total();\n"
                       "  }\n"
                       "}\n"}},
             "a.ts:7 shop.ts:1\n"
             "a.ts:8 shop.ts:3\n"
             "a.ts:9 shop.ts:1\n"
             "a.ts:10 shop.ts:4\n"
             "a.ts:11 shop.ts:1\n"
             "a.ts:13 shop.ts:1\n"
             "a.ts:14 shop.ts:1\n"
             "a.ts:15 shop.ts:1\n"
             "a.ts:16 -\n"
             "a.ts:17 -\n"
             "shop.ts:4 shop.ts:3\n")

RESOLVE_TEST(python_finds_members_by_the_types_that_are_written_or_made,
             {{"shop.py", "class Base:\n"
                          "    def total(self): pass\n"
                          "class Shop(Base):\n"
                          "    def total(self):\n"
                          "        super().total()\n"
                          "def make() -> 'Shop': pass\n"},
              {"a.py", "from typing import Optional, List\n"
                       "from shop import Shop, make\n"
                       "import shop as s\n"
                       "class Use:\n"
                       "    def __init__(self, given: Shop):\n"
                       "        self.shop = Shop()\n"
                       "        self.given = given\n"
                       "    def run(self, a: Optional[Shop], b: List[Shop], c, d: s.Base):\n"
                       "        self.shop.total()\n"
                       "        self.given.total()\n"
                       "        a.total()\n"
                       "        b.total()\n"
                       "        for x in b:\n"
                       "            x.total()\n"
                       "        c.total()\n"
                       "        d.total()\n"
                       "        made = make()\n"
                       "        made.total()\n"
                       "        two = Shop()\n"
                       "        two = c\n"
                       "        two.total()\n"}},
             "a.py:9 shop.py:4\n"
             "a.py:10 shop.py:4\n"
             "a.py:11 shop.py:4\n"
             "a.py:12 -\n"
             "a.py:14 shop.py:4\n"
             "a.py:15 -\n"
             "a.py:16 shop.py:2\n"
             "a.py:18 shop.py:4\n"
             "a.py:21 -\n"
             "shop.py:4 shop.py:2\n"
             "shop.py:5 shop.py:2\n")

RESOLVE_TEST(go_finds_members_of_structs_and_of_what_they_embed,
             {{"go.mod", "module example.com/x\n"},
              {"shop/shop.go", "package shop\n"
                               "type Base struct { total int }\n"
                               "type Shop struct { Base; Next *Shop }\n"
                               "type Desk struct { total string }\n"
                               "func New() (*Shop, error) { return nil, nil }\n"},
              {"a/a.go", "package a\n"
                         "import \"example.com/x/shop\"\n"
                         "func f(s *shop.Shop, m map[string]shop.Desk) {\n"
                         "\ts.total = 1\n"
                         "\ts.Next.total = 1\n"
                         "\tn, err := shop.New()\n"
                         "\tn.total = 1\n"
                         "\terr.total()\n"
                         "\tfor _, d := range m { d.total = \"\" }\n"
                         "\tvar v shop.Desk\n"
                         "\tv.total = \"\"\n"
                         "\tw := &shop.Desk{total: \"\"}\n"
                         "\tw.total = \"\"\n"
                         "}\n"}},
             "a/a.go:4 shop/shop.go:2\n"
             "a/a.go:5 shop/shop.go:2\n"
             "a/a.go:7 shop/shop.go:2\n"
             "a/a.go:8 -\n"
             "a/a.go:9 shop/shop.go:4\n"
             "a/a.go:11 shop/shop.go:4\n"
             "a/a.go:12 shop/shop.go:4\n"
             "a/a.go:13 shop/shop.go:4\n")

RESOLVE_TEST(c_finds_members_of_typed_pointers,
             {{"shop.h", "struct shop { int total; struct shop *next; };\n"
                         "typedef struct { int total; } desk_t;\n"
                         "struct shop *find(void);\n"},
              {"a.c", "#include \"shop.h\"\n"
                      "static struct shop global = {.total = 1};\n"
                      "int f(struct shop *s, desk_t *d, struct shop list[3], void *p) {\n"
                      "    s->total = 1;\n"
                      "    s->next->total = 1;\n"
                      "    d->total = 1;\n"
                      "    list[0].total = 1;\n"
                      "    global.total = 1;\n"
                      "    find()->total = 1;\n"
                      "    ((struct shop *)p)->total = 1;\n"
                      "    struct shop local;\n"
                      "    (&local)->total = 1;\n"
                      "    return p->total;\n"
                      "}\n"}},
             "a.c:2 shop.h:1\n"
             "a.c:4 shop.h:1\n"
             "a.c:5 shop.h:1\n"
             "a.c:6 shop.h:2\n"
             "a.c:7 shop.h:1\n"
             "a.c:8 shop.h:1\n"
             "a.c:9 shop.h:1\n"
             "a.c:10 shop.h:1\n"
             "a.c:12 shop.h:1\n"
             "a.c:13 -\n")

RESOLVE_TEST(types_that_are_each_others_bases_end,
             {{"a.py", "class A(B): pass\n"
                       "class B(A): pass\n"
                       "x = y\n"
                       "y = x\n"
                       "def f(a: A):\n"
                       "    a.total()\n"
                       "    x.total()\n"
                       "def total(): pass\n"}},
             "a.py:6 -\n"
             "a.py:7 -\n")

RESOLVE_TEST(c_keeps_macros_and_tags_apart,
             {{"a.c", "#define total(x) x\n"
                      "int f(void) { return total(1); }\n"},
              {"b.c", "int total(int x);\n"
                      "int g(void) { return total(1); }\n"},
              {"c.c", "int total(int x) { return x; }\n"},
              {"d.c", "struct total;\n"
                      "int h(struct total *t);\n"}},
             "a.c:2 a.c:1\n"
             "b.c:2 c.c:1\n"
             "d.c:1 -\n"
             "d.c:2 -\n")

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(typescript_finds_members_by_the_types_that_are_written),
        cmocka_unit_test(python_finds_members_by_the_types_that_are_written_or_made),
        cmocka_unit_test(go_finds_members_of_structs_and_of_what_they_embed),
        cmocka_unit_test(c_finds_members_of_typed_pointers),
        cmocka_unit_test(types_that_are_each_others_bases_end),
        cmocka_unit_test(c_keeps_macros_and_tags_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
