; Elixir: modules, functions, macros, attributes and what uses them. All are calls to the grammar.
; A struct that is written out is an instance, but where it is a pattern.

((call target: (identifier) @verb (arguments . (alias) @name) (do_block) @body) @def.module
  (#any-of? @verb "defmodule"))
((call target: (identifier) @verb (arguments . (alias) @name) (do_block) @body) @def.interface
  (#any-of? @verb "defprotocol"))
((call
  target: (identifier) @verb
  (arguments . (alias) (keywords (pair value: [(alias) @name (list . (alias) @name)])))) @scope
  (#any-of? @verb "defimpl"))
((call
  target: (identifier) @verb
  (arguments . [
    (call target: (identifier) @name)
    (identifier) @name
    (binary_operator left: (call target: (identifier) @name))
  ])
  (do_block) @body) @def.function
  (#any-of? @verb "def" "defp"))
((call
  target: (identifier) @verb
  (arguments . [
    (call target: (identifier) @name)
    (identifier) @name
    (binary_operator left: (call target: (identifier) @name))
  ] . (keywords) @body)) @def.function
  (#any-of? @verb "def" "defp" "defdelegate"))
((call
  target: (identifier) @verb
  (arguments . [(call target: (identifier) @name) (identifier) @name] .)) @def.function
  (#any-of? @verb "def" "defp"))
((call
  target: (identifier) @verb
  (arguments . [
    (call target: (identifier) @name)
    (binary_operator left: (call target: (identifier) @name))
  ])
  (do_block) @body) @def.macro
  (#any-of? @verb "defmacro" "defmacrop"))
((call
  target: (identifier) @verb
  (arguments . [
    (call target: (identifier) @name)
    (binary_operator left: (call target: (identifier) @name))
  ])) @def.macro
  (#any-of? @verb "defmacro" "defmacrop" "defguard" "defguardp"))
((call target: (identifier) @verb (arguments (list (atom) @name @def.field)))
  (#any-of? @verb "defstruct" "defexception"))
((call
  target: (identifier) @verb
  (arguments [
    (keywords (pair key: (keyword) @name) @def.field)
    (list (keywords (pair key: (keyword) @name) @def.field))
  ]))
  (#any-of? @verb "defstruct" "defexception"))
((unary_operator
  operand: (call
    target: (identifier) @verb
    (arguments . (binary_operator left: [(identifier) @name (call target: (identifier) @name)]))))
  @def.type
  (#any-of? @verb "type" "typep" "opaque"))
((unary_operator
  operand: (call
    target: (identifier) @verb
    (arguments . (binary_operator left: (call target: (identifier) @name))))) @def.prototype
  (#any-of? @verb "callback" "macrocallback"))
((unary_operator operator: "@" operand: (call target: (identifier) @name)) @def.constant
  (#not-any-of? @name "moduledoc" "doc" "typedoc" "spec" "type" "typep" "opaque" "callback"
    "macrocallback" "impl" "behaviour" "derive" "enforce_keys" "compile" "dialyzer" "deprecated"
    "optional_callbacks" "on_load" "before_compile" "after_compile" "external_resource"))

((call target: (identifier) @verb (arguments . (alias) @import))
  (#any-of? @verb "use" "alias" "import" "require"))
((call target: (identifier) @verb (arguments . (dot left: (alias) @import right: (tuple))))
  (#any-of? @verb "use" "alias" "import" "require"))
((call
  target: (identifier) @verb
  (arguments . (dot left: (alias) right: (tuple (alias) @ignore))))
  (#any-of? @verb "use" "alias" "import" "require"))
((call target: (identifier) @verb (arguments (keywords (pair value: (alias) @ignore))))
  (#any-of? @verb "alias" "require"))

((unary_operator
  operand: (call
    target: (identifier) @verb
    (arguments . (binary_operator left: (call target: (identifier) @ignore)))))
  (#any-of? @verb "spec" "type" "typep" "opaque" "callback" "macrocallback"))
((unary_operator operand: (call target: (identifier) @verb (arguments . (alias) @name)))
  @ref.implementation
  (#any-of? @verb "behaviour"))
((call target: (identifier) @verb (arguments . (alias) @name)) @ref.implementation
  (#any-of? @verb "defimpl"))
((call
  target: (identifier) @verb
  (do_block (call (arguments . (call target: (identifier) @name))))) @ref.override
  (#any-of? @verb "defimpl"))
((do_block
  (unary_operator operand: (call target: (identifier) @verb))
  . (call (arguments . [
    (call target: (identifier) @name)
    (binary_operator left: (call target: (identifier) @name))
  ]))) @ref.override
  (#any-of? @verb "impl"))
(unary_operator "@" (call target: (identifier) @ignore))
((call target: (identifier) @name) @ref.call
  (#not-any-of? @name "def" "defp" "defmodule" "defprotocol" "defimpl" "defmacro" "defmacrop"
    "defguard" "defguardp" "defstruct" "defexception" "defdelegate"
    "use" "alias" "import" "require"))
(call target: (dot right: (identifier) @name) (arguments)) @ref.call
(dot right: (identifier) @name) @ref.read
((call
  target: (identifier) @verb
  (arguments . [
    (call (arguments [
      (map (struct (alias) @name))
      (binary_operator [
        left: (map (struct (alias) @name))
        right: (map (struct (alias) @name))
      ])
      (tuple (map (struct (alias) @name)))
      (list (map (struct (alias) @name)))
    ]))
    (binary_operator left: (call (arguments [
      (map (struct (alias) @name))
      (binary_operator [
        left: (map (struct (alias) @name))
        right: (map (struct (alias) @name))
      ])
      (tuple (map (struct (alias) @name)))
      (list (map (struct (alias) @name)))
    ])))
  ])) @ref.read
  (#any-of? @verb "def" "defp" "defmacro" "defmacrop"))
(stab_clause left: (arguments [
  (map (struct (alias) @name))
  (binary_operator (map (struct (alias) @name)))
  (tuple (map (struct (alias) @name)))
  (list (map (struct (alias) @name)))
])) @ref.read
(binary_operator left: (map (struct (alias) @name)) operator: "=") @ref.read
(binary_operator left: (tuple (map (struct (alias) @name))) operator: ["=" "<-"]) @ref.read
((unary_operator
  operand: (call
    target: (identifier) @verb
    (arguments . (binary_operator right: (map (struct (alias) @name)))))) @ref.read
  (#any-of? @verb "type" "typep" "opaque"))
(struct (alias) @name) @ref.instantiate
(unary_operator "@" operand: (identifier) @name) @ref.read
(unary_operator "&" (binary_operator left: (identifier) @name right: (integer))) @ref.read
((alias) @name @ref.read)
