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

RESOLVE_TEST(python_calls_what_its_module_class_or_self_has,
             {{"a.py", "import shop\n"
                       "import shop as s\n"
                       "from pkg import stall, cart\n"
                       "import json\n"
                       "def total(): pass\n"
                       "def use(shop2, json2):\n"
                       "    total()\n"
                       "    shop.total()\n"
                       "    s.total()\n"
                       "    stall.total()\n"
                       "    json.total()\n"
                       "    shop2.total()\n"
                       "    use().total()\n"
                       "    shop.desk.total()\n"
                       "def other(shop, s):\n"
                       "    shop.total()\n"
                       "    total = shop.total\n"},
              {"shop.py", "def total(): pass\n"
                          "def outer():\n"
                          "    def total(): pass\n"},
              {"pkg/stall.py", "def total(): pass\n"},
              {"deep/down/json.py", "def total(): pass\n"},
              {"b.py", "class Base:\n"
                       "    def total(self): pass\n"
                       "class Box(Base):\n"
                       "    def run(self):\n"
                       "        self.total()\n"
                       "        total()\n"
                       "        self.box.total()\n"
                       "        Base.total(self)\n"}},
             "a.py:7 a.py:5\n"
             "a.py:8 shop.py:1\n"
             "a.py:9 shop.py:1\n"
             "a.py:10 pkg/stall.py:1\n"
             "a.py:11 -\n"
             "a.py:12 -\n"
             "a.py:13 -\n"
             "a.py:14 -\n"
             "a.py:16 -\n"
             "a.py:17 -\n"
             "b.py:5 b.py:2\n"
             "b.py:6 -\n"
             "b.py:7 -\n"
             "b.py:8 b.py:2\n")

RESOLVE_TEST(javascript_calls_what_its_module_or_this_has,
             {{"a.js", "const shop = require('./shop');\n"
                       "import * as lib from './shop';\n"
                       "const Part = require('./shop').Part;\n"
                       "const fs = require('fs');\n"
                       "function total() {}\n"
                       "function use(obj) {\n"
                       "  total();\n"
                       "  obj.total();\n"
                       "  obj?.total();\n"
                       "  shop.total();\n"
                       "  lib.total();\n"
                       "  Part.total();\n"
                       "  fs.total();\n"
                       "  call(...total);\n"
                       "  obj\n"
                       "    .total();\n"
                       "  obj. // shop\n"
                       "    total();\n"
                       "}\n"
                       "class Box {\n"
                       "  sum() { this.total(); return this.shop.total(); }\n"
                       "}\n"
                       "class Till {\n"
                       "  total() {}\n"
                       "  run() { this.total(); total(); }\n"
                       "  static all() { return Till.total(); }\n"
                       "}\n"},
              {"shop.js", "function total() {}\n"},
              {"lib/fs.js", "function total() {}\n"}},
             "a.js:7 a.js:5\n"
             "a.js:8 -\n"
             "a.js:9 -\n"
             "a.js:10 shop.js:1\n"
             "a.js:11 shop.js:1\n"
             "a.js:12 -\n"
             "a.js:13 -\n"
             "a.js:14 a.js:5\n"
             "a.js:16 -\n"
             "a.js:18 -\n"
             "a.js:21 -\n"
             "a.js:21 -\n"
             "a.js:25 a.js:24\n"
             "a.js:25 a.js:5\n"
             "a.js:26 a.js:24\n")

RESOLVE_TEST(javascript_calls_the_names_that_it_imports_and_no_others,
             {{"a.js", "import { total, tax as duty } from './shop';\n"
                       "total();\n"},
              {"b.js", "import { tax, // of the shop\n"
                       "         type Rate } from './shop';\n"
                       "total();\n"},
              {"c.js", "const { total, tax: duty = 1 } = require('./shop');\n"
                       "function run() { return total(); }\n"},
              {"d.js", "import total from './shop';\n"
                       "total();\n"},
              {"e.js", "import { tax as total } from './shop';\n"
                       "total();\n"},
              {"f.js", "export { total } from './shop';\n"},
              {"g.ts", "import sum, * as total from './shop';\n"
                       "total();\n"},
              {"shop.js", "export function total() {}\n"}},
             "a.js:1 shop.js:1\n"
             "a.js:2 shop.js:1\n"
             "b.js:3 -\n"
             "c.js:1 shop.js:1\n"
             "c.js:2 shop.js:1\n"
             "d.js:1 -\n"
             "d.js:2 -\n"
             "e.js:2 -\n"
             "f.js:1 shop.js:1\n"
             "g.ts:2 -\n")

RESOLVE_TEST(javascript_calls_no_names_that_a_module_does_not_export,
             {{"a.js", "import './shop';\n"
                       "import * as shop from './shop';\n"
                       "total();\n"
                       "shop.total();\n"},
              {"b.js", "import './till';\n"
                       "total();\n"},
              {"shop.js", "export const rate = 1;\n"
                          "function total() {}\n"},
              {"till.js", "function total() {}\n"
                          "module.exports = exports = total;\n"}},
             "a.js:3 -\n"
             "a.js:4 -\n"
             "b.js:2 -\n"
             "till.js:2 till.js:1\n")

RESOLVE_TEST(go_calls_what_its_package_or_receiver_has,
             {{"a/a.go", "package a\n"
                         "import \"example.com/x/shop\"\n"
                         "import other \"example.com/x/shop\"\n"
                         "import \"encoding/json\"\n"
                         "func total() {}\n"
                         "type Box struct { n int }\n"
                         "func (b *Box) total() {}\n"
                         "func (b *Box) run(c *Box) {\n"
                         "\ttotal()\n"
                         "\tb.total()\n"
                         "\tc.total()\n"
                         "\tshop.total()\n"
                         "\tother.total()\n"
                         "\tjson.total()\n"
                         "\tb.n.total()\n"
                         "}\n"},
              {"shop/shop.go", "package shop\nfunc total() {}\n"},
              {"json/json.go", "package json\nfunc total() {}\n"}},
             "a/a.go:9 a/a.go:5\n"
             "a/a.go:10 a/a.go:7\n"
             "a/a.go:11 a/a.go:7\n"
             "a/a.go:12 shop/shop.go:2\n"
             "a/a.go:13 shop/shop.go:2\n"
             "a/a.go:14 -\n"
             "a/a.go:15 -\n")

RESOLVE_TEST(java_calls_what_its_class_this_or_super_has,
             {{"A.java", "class A extends Base {\n"
                         "  int total() { return 1; }\n"
                         "  void run(Base b) {\n"
                         "    total();\n"
                         "    this.total();\n"
                         "    super.total();\n"
                         "    b.total();\n"
                         "    Base.total();\n"
                         "    b.next().total();\n"
                         "    Twice.total();\n"
                         "  }\n"
                         "}\n"},
              {"Base.java", "class Base {\n  static int total() { return 2; }\n}\n"},
              {"T.java", "class Twice { static int total() { return 2; } }\n"},
              {"U.java", "class Twice { static int sum() { return 2; } }\n"}},
             "A.java:2 Base.java:2\n"
             "A.java:4 A.java:2\n"
             "A.java:5 A.java:2\n"
             "A.java:6 Base.java:2\n"
             "A.java:7 Base.java:2\n"
             "A.java:8 Base.java:2\n"
             "A.java:9 -\n"
             "A.java:10 -\n")

RESOLVE_TEST(cpp_calls_what_its_namespace_class_or_this_has,
             {{"a.cpp", "#include \"box.h\"\n"
                        "int total() { return 1; }\n"
                        "namespace shop { int total() { return 2; } }\n"
                        "int Box::total() { return 3; }\n"
                        "int Box::run(Box *other) {\n"
                        "    this->total();\n"
                        "    other->total();\n"
                        "    other->next.total();\n"
                        "    shop::total();\n"
                        "    std::total();\n"
                        "    Box::total();\n"
                        "    List<int>::total();\n"
                        "    return n;\n"
                        "}\n"},
              {"box.h", "class Box {\npublic:\n    int total();\n    int run(Box *other);\n};\n"}},
             "a.cpp:6 a.cpp:4\n"
             "a.cpp:7 a.cpp:4\n"
             "a.cpp:8 -\n"
             "a.cpp:9 a.cpp:3\n"
             "a.cpp:10 -\n"
             "a.cpp:11 a.cpp:4\n"
             "a.cpp:12 -\n")

RESOLVE_TEST(c_does_not_take_a_member_for_a_function,
             {{"a.c", "int total(void) { return 1; }\n"
                      "int run(struct till *till) {\n"
                      "    return total() + till->total() + till->next.total();\n"
                      "}\n"}},
             "a.c:3 a.c:1\n"
             "a.c:3 -\n"
             "a.c:3 -\n")

RESOLVE_TEST(rust_calls_what_its_module_type_or_self_has,
             {{"src/a.rs", "mod shop;\n"
                           "use crate::till as desk;\n"
                           "fn total() {}\n"
                           "struct Box { n: i32 }\n"
                           "impl Box {\n"
                           "    fn total(&self) {}\n"
                           "    fn run(&self, shop: Box) {\n"
                           "        total();\n"
                           "        self.total();\n"
                           "        Self::total(self);\n"
                           "        Box::total(self);\n"
                           "        self.n.total();\n"
                           "        shop.total();\n"
                           "    }\n"
                           "}\n"
                           "fn use_it() {\n"
                           "    shop::total();\n"
                           "    crate::shop::total();\n"
                           "    std::total();\n"
                           "    for i in 0..total() {}\n"
                           "}\n"},
              {"src/shop.rs", "pub fn total() {}\n"}},
             "src/a.rs:8 src/a.rs:3\n"
             "src/a.rs:9 src/a.rs:6\n"
             "src/a.rs:10 src/a.rs:6\n"
             "src/a.rs:11 src/a.rs:6\n"
             "src/a.rs:12 -\n"
             "src/a.rs:13 -\n"
             "src/a.rs:17 src/shop.rs:1\n"
             "src/a.rs:18 src/shop.rs:1\n"
             "src/a.rs:19 -\n"
             "src/a.rs:20 src/a.rs:3\n")

RESOLVE_TEST(a_typedef_of_the_same_name_is_its_struct,
             {{"a.h", "typedef struct total total;\n"},
              {"b.c", "#include \"a.h\"\n"
                      "struct total { int n; };\n"
                      "int f(total *t);\n"
                      "int g(struct total *total);\n"},
              {"c.c", "#include \"a.h\"\n"
                      "int h(total *t);\n"}},
             "a.h:1 b.c:2\n"
             "b.c:3 b.c:2\n"
             "b.c:4 b.c:2\n"
             "c.c:2 b.c:2\n")

RESOLVE_TEST(rust_takes_the_names_of_a_group_and_no_others,
             {{"src/a.rs", "use crate::{shop::{self, total}, till};\n"
                           "fn run() {\n"
                           "    total();\n"
                           "    shop::total();\n"
                           "    till::total();\n"
                           "}\n"},
              {"src/b.rs", "use crate::shop::{other, total as sum};\n"
                           "fn run() { total(); }\n"},
              {"src/c.rs", "use crate::till::*;\n"
                           "fn run() { total(); }\n"},
              {"src/shop.rs", "pub fn total() {}\n"},
              {"src/till.rs", "pub fn total() {}\n"}},
             "src/a.rs:3 src/shop.rs:1\n"
             "src/a.rs:4 src/shop.rs:1\n"
             "src/a.rs:5 src/till.rs:1\n"
             "src/b.rs:2 -\n"
             "src/c.rs:2 src/till.rs:1\n")

RESOLVE_TEST(go_calls_what_a_dot_brings,
             {{"a/a.go", "package a\n"
                         "import . \"example.org/x/shop\"\n"
                         "func f() { total() }\n"},
              {"b/b.go", "package b\n"
                         "import _ \"example.org/x/shop\"\n"
                         "func f() { total() }\n"},
              {"shop/shop.go", "package shop\nfunc total() {}\n"}},
             "a/a.go:3 shop/shop.go:2\n"
             "b/b.go:3 -\n")

RESOLVE_TEST(zig_calls_what_its_file_or_struct_has,
             {{"a.zig", "const shop = @import(\"shop.zig\");\n"
                        "const std = @import(\"std\");\n"
                        "fn total() void {}\n"
                        "const Till = struct {\n"
                        "    fn total() void {}\n"
                        "};\n"
                        "fn run(plug: Till) void {\n"
                        "    total();\n"
                        "    plug.total();\n"
                        "    shop.total();\n"
                        "    Till.total();\n"
                        "    std.total();\n"
                        "    shop.Till.total();\n"
                        "}\n"},
              {"shop.zig", "pub fn total() void {}\n"},
              {"lib/std.zig", "pub fn total() void {}\n"}},
             "a.zig:8 a.zig:3\n"
             "a.zig:9 -\n"
             "a.zig:10 shop.zig:1\n"
             "a.zig:11 a.zig:5\n"
             "a.zig:12 -\n"
             "a.zig:13 -\n")

RESOLVE_TEST(elixir_calls_what_its_module_has,
             {{"lib/a.ex", "defmodule A do\n"
                           "  alias Shop.Cart\n"
                           "  def total(x), do: x\n"
                           "  def run(plug) do\n"
                           "    total(plug)\n"
                           "    plug.total()\n"
                           "    Cart.total(plug)\n"
                           "    Shop.Cart.total(plug)\n"
                           "    Enum.total(plug)\n"
                           "    __MODULE__.total(plug)\n"
                           "    Map.total(plug)\n"
                           "  end\n"
                           "end\n"
                           "defmodule B do\n"
                           "  def run(x), do: total(x)\n"
                           "end\n"},
              {"lib/shop/cart.ex", "defmodule Shop.Cart do\n  def total(x), do: x\nend\n"}},
             "lib/a.ex:5 lib/a.ex:3\n"
             "lib/a.ex:6 -\n"
             "lib/a.ex:7 lib/shop/cart.ex:2\n"
             "lib/a.ex:8 lib/shop/cart.ex:2\n"
             "lib/a.ex:9 -\n"
             "lib/a.ex:10 lib/a.ex:3\n"
             "lib/a.ex:11 -\n"
             "lib/a.ex:15 -\n")

RESOLVE_TEST(ruby_calls_what_its_class_or_self_has,
             {{"a.rb", "def total; end\n"
                       "class Till\n"
                       "  def self.total; end\n"
                       "  def run(till)\n"
                       "    self.total\n"
                       "    till.total\n"
                       "    @till.total\n"
                       "    till&.total\n"
                       "  end\n"
                       "end\n"
                       "Till.total()\n"
                       "Other.total()\n"}},
             "a.rb:5 a.rb:3\n"
             "a.rb:6 -\n"
             "a.rb:7 -\n"
             "a.rb:8 -\n"
             "a.rb:11 a.rb:3\n"
             "a.rb:12 -\n")

RESOLVE_TEST(php_calls_what_its_class_or_this_has,
             {{"a.php", "<?php\n"
                        "function total() {}\n"
                        "class Till {\n"
                        "  function total() {}\n"
                        "  function run($till) {\n"
                        "    $this->total();\n"
                        "    self::total();\n"
                        "    Till::total();\n"
                        "    $till->total();\n"
                        "    $till?->total();\n"
                        "    Other::total();\n"
                        "    return 'a'.total();\n"
                        "  }\n"
                        "}\n"}},
             "a.php:6 a.php:4\n"
             "a.php:7 a.php:4\n"
             "a.php:8 a.php:4\n"
             "a.php:9 -\n"
             "a.php:10 -\n"
             "a.php:11 -\n"
             "a.php:12 a.php:2\n")

RESOLVE_TEST(elixir_calls_what_a_group_or_a_list_imports,
             {{"lib/a.ex", "defmodule A do\n"
                           "  alias Shop.{Cart, Till}\n"
                           "  import Shop.Sums, only: [total: 1]\n"
                           "  def run(x) do\n"
                           "    Cart.total(x)\n"
                           "    total(x)\n"
                           "    Till.total(x)\n"
                           "    Shop.Sums.total(x)\n"
                           "  end\n"
                           "end\n"},
              {"lib/b.ex", "defmodule B do\n"
                           "  import Shop.Sums, only: [other: 1]\n"
                           "  def run(x), do: total(x)\n"
                           "end\n"},
              {"lib/shop/cart.ex", "defmodule Shop.Cart do\n  def total(x), do: x\nend\n"},
              {"lib/shop/sums.ex", "defmodule Shop.Sums do\n  def total(x), do: x\nend\n"}},
             "lib/a.ex:5 lib/shop/cart.ex:2\n"
             "lib/a.ex:6 lib/shop/sums.ex:2\n"
             "lib/a.ex:7 -\n"
             "lib/a.ex:8 lib/shop/sums.ex:2\n"
             "lib/b.ex:3 -\n")

RESOLVE_TEST(haskell_and_julia_call_what_a_list_imports,
             {{"A.hs", "module A (run) where\n"
                       "import Shop.Till (other,\n"
                       "                  total)\n"
                       "import Shop.Desk (other)\n"
                       "run y = total y\n"
                       "walk y = Shop.Till.total y\n"},
              {"Shop/Till.hs", "module Shop.Till where\ntotal :: Int -> Int\ntotal x = x\n"},
              {"Shop/Desk.hs", "module Shop.Desk where\ntotal :: Int -> Int\ntotal x = x\n"},
              {"a.jl", "using Till: total, other\n"
                       "import Desk as D\n"
                       "run(x) = total(x)\n"
                       "walk(x) = D.total(x)\n"},
              {"Desk.jl", "module Desk\ntotal(x) = x\nend\n"}},
             "A.hs:5 Shop/Till.hs:2\n"
             "A.hs:6 Shop/Till.hs:2\n"
             "a.jl:3 Desk.jl:2\n"
             "a.jl:4 Desk.jl:2\n")

RESOLVE_TEST(haskell_composes_with_the_mark_that_qualifies,
             {{"A.hs", "module A where\n"
                       "import qualified Shop.Till as Till\n"
                       "import qualified Data.Map as Map\n"
                       "total :: Int -> Int\n"
                       "total x = x\n"
                       "run y = negate . total $ y\n"
                       "walk y = Till.total y\n"
                       "jump y = Map.total y\n"},
              {"Shop/Till.hs", "module Shop.Till where\ntotal :: Int -> Int\ntotal x = x\n"}},
             "A.hs:6 A.hs:4\n"
             "A.hs:7 Shop/Till.hs:2\n"
             "A.hs:8 -\n")

RESOLVE_TEST(ocaml_calls_what_its_module_has,
             {{"lib/a.ml", "let total x = x\n"
                           "module Inner = struct let total x = x end\n"
                           "let run y = total y\n"
                           "let walk y = Till.total y\n"
                           "let jump y = List.total y\n"
                           "let hop y = Inner.total y\n"
                           "let send y = y#total\n"
                           "let give y = Desk.total y\n"},
              {"lib/till.ml", "let total x = x\n"},
              {"other/list.ml", "let total x = x\n"},
              {"lib/desk.ml", "let total x = Desk.total x\n"},
              {"other/desk.ml", "let total x = x\n"}},
             "lib/a.ml:3 -\n"
             "lib/a.ml:4 lib/till.ml:1\n"
             "lib/a.ml:5 -\n"
             "lib/a.ml:6 lib/a.ml:2\n"
             "lib/a.ml:7 -\n"
             "lib/a.ml:8 -\n"
             "lib/desk.ml:1 -\n")

RESOLVE_TEST(lua_calls_what_its_module_or_table_has,
             {{"a.lua", "local shop = require('shop')\n"
                        "local Till = {}\n"
                        "function total() end\n"
                        "function Till:total() end\n"
                        "function Till:run(till)\n"
                        "  self:total()\n"
                        "  till:total()\n"
                        "  shop.total()\n"
                        "  Till.total()\n"
                        "  local s = 'a'..total()\n"
                        "end\n"},
              {"shop.lua", "function total() end\n"}},
             "a.lua:6 a.lua:4\n"
             "a.lua:7 -\n"
             "a.lua:8 shop.lua:1\n"
             "a.lua:9 a.lua:4\n"
             "a.lua:10 a.lua:3\n")

RESOLVE_TEST(swift_kotlin_and_r_do_not_take_a_member_for_a_function,
             {{"a.swift", "func total() {}\n"
                          "func run(till: Till) {\n"
                          "    total()\n"
                          "    till.total()\n"
                          "    till?.total()\n"
                          "}\n"},
              {"a.kt", "fun total() {}\n"
                       "fun run(till: Till) {\n"
                       "    total()\n"
                       "    till.total()\n"
                       "    till!!.total()\n"
                       "}\n"},
              {"a.r", "total <- function(x) x\n"
                      "run <- function(till) {\n"
                      "  total(till)\n"
                      "  till$total(1)\n"
                      "  other::total(1)\n"
                      "}\n"}},
             "a.kt:3 a.kt:1\n"
             "a.kt:4 -\n"
             "a.kt:5 -\n"
             "a.r:3 a.r:1\n"
             "a.r:4 -\n"
             "a.r:5 -\n"
             "a.swift:3 a.swift:1\n"
             "a.swift:4 -\n"
             "a.swift:5 -\n")

RESOLVE_TEST(python_makes_an_object_of_the_class_that_it_calls,
             {{"a.py", "from shop import total\n"
                       "def use(x: total):\n"
                       "    total()\n"
                       "    x.total()\n"},
              {"b.py", "def use():\n    total()\n"},
              {"c.py", "import shop\nshop.total()\n"},
              {"shop.py", "class total:\n    pass\n"}},
             "a.py:1 shop.py:1\n"
             "a.py:2 shop.py:1\n"
             "a.py:3 shop.py:1 made\n"
             "a.py:4 -\n"
             "b.py:2 -\n"
             "c.py:2 shop.py:1 made\n")

RESOLVE_TEST(a_constructor_is_no_other_thing_than_its_class,
             {{"A.java", "class A {\n"
                         "  Object run(total t) { return new total(1); }\n"
                         "  int sum() { return total(); }\n"
                         "}\n"},
              {"total.java", "class total {\n"
                             "  total(int n) { }\n"
                             "  total(long n) { }\n"
                             "  static Object one() { return new total(1); }\n"
                             "}\n"}},
             "A.java:2 total.java:1\n"
             "A.java:2 total.java:1 made\n"
             "A.java:3 -\n"
             "total.java:4 total.java:1 made\n")

RESOLVE_TEST(imports_of_whole_packages_and_of_groups_bring_names,
             {{"A.java", "import org.shop.*;\n"
                         "class A { total t; }\n"},
              {"src/org/shop/total.java", "package org.shop;\npublic class total { }\n"},
              {"b/B.scala", "import org.till.{other, total}\n"
                            "class B { val t: total = null }\n"},
              {"c/C.scala", "import org.till.{other, total => sum}\n"
                            "class C { val t: total = null }\n"},
              {"src/org/till/total.scala", "package org.till\nclass total\n"}},
             "A.java:2 src/org/shop/total.java:2\n"
             "b/B.scala:2 src/org/till/total.scala:2\n"
             "c/C.scala:2 -\n")

RESOLVE_TEST(a_name_that_python_imports_is_told_from_one_for_a_module,
             {{"a.py", "from shop import total\n"
                       "total()\n"},
              {"b.py", "import shop as total\n"
                       "total()\n"},
              {"c.py", "from shop import (other,  # total\n"
                       "                  sum as total)\n"
                       "total()\n"},
              {"d.py", "from shop import *\n"
                       "total()\n"},
              {"shop.py", "def total(): pass\n"}},
             "a.py:1 shop.py:1\n"
             "a.py:2 shop.py:1\n"
             "b.py:2 -\n"
             "c.py:3 -\n"
             "d.py:2 shop.py:1\n")

RESOLVE_ONE_TEST(the_only_constructor_is_called_where_objects_are_made, "total.java", 2,
                 {{"A.java", "class A {\n"
                             "  Object run(total t) { return new total(1); }\n"
                             "}\n"},
                  {"total.java", "class total {\n  total(int n) { }\n}\n"}},
                 "A.java:2 total.java:2 made\n")

RESOLVE_ONE_TEST(which_of_two_constructors_is_called_is_not_known, "total.java", 2,
                 {{"A.java", "class A {\n"
                             "  Object run(total t) { return new total(1); }\n"
                             "}\n"},
                  {"total.java", "class total {\n  total(int n) { }\n  total(long n) { }\n}\n"}},
                 "A.java:2 -\n")

RESOLVE_TEST(julia_makes_an_object_of_the_struct_that_it_calls,
             {{"a.jl", "struct total\n    n::Int\nend\n"
                       "total() = total(1)\n"
                       "run(x) = total(2)\n"}},
             "a.jl:4 a.jl:1 made\n"
             "a.jl:5 a.jl:1 made\n")

RESOLVE_TEST(cpp_makes_an_object_of_the_class_that_it_calls,
             {{"a.cpp", "#include \"shop.hpp\"\nint run() { return total(1).n; }\n"},
              {"shop.hpp", "class total {\npublic:\n    total(int n);\n    int n;\n};\n"}},
             "a.cpp:2 shop.hpp:1 made\n")

RESOLVE_TEST(go_converts_to_a_type_that_it_calls,
             {{"a.go", "package a\ntype total int\nvar x = total(1)\n"}}, "a.go:3 a.go:2\n")

RESOLVE_TEST(php_calls_what_the_file_that_it_requires_has,
             {{"a.php", "<?php\n"
                        "require_once __DIR__ . '/lib/shop.php';\n"
                        "total();\n"},
              {"lib/shop.php", "<?php\n"
                               "function total() {}\n"},
              {"lib/till.php", "<?php\n"
                               "function total() {}\n"}},
             "a.php:3 lib/shop.php:2\n")

RESOLVE_TEST(c_and_php_call_no_types,
             {{"a.c", "struct total { int n; };\nint run(void) { return total(); }\n"},
              {"a.php", "<?php\nclass total {}\nfunction run() { return total(); }\n"}},
             "a.c:2 -\n"
             "a.php:3 -\n")

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(python_calls_what_its_module_class_or_self_has),
        cmocka_unit_test(javascript_calls_what_its_module_or_this_has),
        cmocka_unit_test(javascript_calls_the_names_that_it_imports_and_no_others),
        cmocka_unit_test(javascript_calls_no_names_that_a_module_does_not_export),
        cmocka_unit_test(go_calls_what_its_package_or_receiver_has),
        cmocka_unit_test(java_calls_what_its_class_this_or_super_has),
        cmocka_unit_test(cpp_calls_what_its_namespace_class_or_this_has),
        cmocka_unit_test(c_does_not_take_a_member_for_a_function),
        cmocka_unit_test(rust_calls_what_its_module_type_or_self_has),
        cmocka_unit_test(a_typedef_of_the_same_name_is_its_struct),
        cmocka_unit_test(rust_takes_the_names_of_a_group_and_no_others),
        cmocka_unit_test(go_calls_what_a_dot_brings),
        cmocka_unit_test(zig_calls_what_its_file_or_struct_has),
        cmocka_unit_test(elixir_calls_what_its_module_has),
        cmocka_unit_test(ruby_calls_what_its_class_or_self_has),
        cmocka_unit_test(php_calls_what_its_class_or_this_has),
        cmocka_unit_test(elixir_calls_what_a_group_or_a_list_imports),
        cmocka_unit_test(haskell_and_julia_call_what_a_list_imports),
        cmocka_unit_test(haskell_composes_with_the_mark_that_qualifies),
        cmocka_unit_test(ocaml_calls_what_its_module_has),
        cmocka_unit_test(lua_calls_what_its_module_or_table_has),
        cmocka_unit_test(swift_kotlin_and_r_do_not_take_a_member_for_a_function),
        cmocka_unit_test(python_makes_an_object_of_the_class_that_it_calls),
        cmocka_unit_test(a_constructor_is_no_other_thing_than_its_class),
        cmocka_unit_test(imports_of_whole_packages_and_of_groups_bring_names),
        cmocka_unit_test(a_name_that_python_imports_is_told_from_one_for_a_module),
        cmocka_unit_test(the_only_constructor_is_called_where_objects_are_made),
        cmocka_unit_test(which_of_two_constructors_is_called_is_not_known),
        cmocka_unit_test(julia_makes_an_object_of_the_struct_that_it_calls),
        cmocka_unit_test(cpp_makes_an_object_of_the_class_that_it_calls),
        cmocka_unit_test(go_converts_to_a_type_that_it_calls),
        cmocka_unit_test(php_calls_what_the_file_that_it_requires_has),
        cmocka_unit_test(c_and_php_call_no_types),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
