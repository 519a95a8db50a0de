; Julia: functions, types, modules, macros, constants and what uses them. A function by the name of
; a type of the file is one of its constructors. What is neither local nor defined is read. Bodies
; are found by extract.c: what is behind a head.

(module_definition name: (identifier) @name) @def.module
(function_definition
  (signature [
    (call_expression . [(identifier) @name (operator) @name])
    (typed_expression . (call_expression . [(identifier) @name (operator) @name]))
    (where_expression . (call_expression . [(identifier) @name (operator) @name]))
    (where_expression
      . (typed_expression . (call_expression . [(identifier) @name (operator) @name])))
  ])) @def.function
(assignment
  . [
    (call_expression . [(identifier) @name (operator) @name])
    (typed_expression . (call_expression . [(identifier) @name (operator) @name]))
    (where_expression . (call_expression . [(identifier) @name (operator) @name]))
    (where_expression
      . (typed_expression . (call_expression . [(identifier) @name (operator) @name])))
  ]) @def.function
(function_definition
  (signature [
    (call_expression . (parametrized_type_expression . (identifier) @name))
    (typed_expression . (call_expression . (parametrized_type_expression . (identifier) @name)))
    (where_expression . (call_expression . (parametrized_type_expression . (identifier) @name)))
    (where_expression
      . (typed_expression . (call_expression . (parametrized_type_expression . (identifier) @name))))
  ])) @def.constructor
(assignment
  . [
    (call_expression . (parametrized_type_expression . (identifier) @name))
    (typed_expression . (call_expression . (parametrized_type_expression . (identifier) @name)))
    (where_expression . (call_expression . (parametrized_type_expression . (identifier) @name)))
    (where_expression
      . (typed_expression . (call_expression . (parametrized_type_expression . (identifier) @name))))
  ]) @def.constructor
(function_definition
  (signature [
    (call_expression
        . (field_expression
          value: (_) @container [(identifier) @name (quote_expression (operator) @name)] .))
    (typed_expression
      . (call_expression
        . (field_expression
          value: (_) @container [(identifier) @name (quote_expression (operator) @name)] .)))
    (where_expression
      . (call_expression
        . (field_expression
          value: (_) @container [(identifier) @name (quote_expression (operator) @name)] .)))
    (where_expression . (typed_expression
      . (call_expression
        . (field_expression
          value: (_) @container [(identifier) @name (quote_expression (operator) @name)] .))))
  ])) @def.function
(assignment
  . [
    (call_expression
        . (field_expression
          value: (_) @container [(identifier) @name (quote_expression (operator) @name)] .))
    (typed_expression
      . (call_expression
        . (field_expression
          value: (_) @container [(identifier) @name (quote_expression (operator) @name)] .)))
    (where_expression
      . (call_expression
        . (field_expression
          value: (_) @container [(identifier) @name (quote_expression (operator) @name)] .)))
    (where_expression . (typed_expression
      . (call_expression
        . (field_expression
          value: (_) @container [(identifier) @name (quote_expression (operator) @name)] .))))
  ]) @def.function
(macro_definition (signature (call_expression . (identifier) @name))) @def.macro
(struct_definition (type_head (identifier) @name)) @def.struct
(struct_definition (type_head (binary_expression . (identifier) @name))) @def.struct
(struct_definition
  (type_head (parametrized_type_expression . (identifier) @name))) @def.struct
(struct_definition
  (type_head
    (binary_expression . (parametrized_type_expression . (identifier) @name)))) @def.struct
(abstract_definition (type_head (identifier) @name)) @def.type
(abstract_definition (type_head (binary_expression . (identifier) @name))) @def.type
(abstract_definition
  (type_head (parametrized_type_expression . (identifier) @name))) @def.type
(abstract_definition
  (type_head (binary_expression . (parametrized_type_expression . (identifier) @name)))) @def.type
(primitive_definition (type_head (identifier) @name)) @def.type
(struct_definition (identifier) @name @def.field)
(struct_definition (typed_expression . (identifier) @name) @def.field)
(struct_definition (assignment . (identifier) @name) @def.field)
(struct_definition (assignment . (typed_expression . (identifier) @name)) @def.field)
((macrocall_expression
  (macro_identifier (identifier) @verb)
  (macro_argument_list . [(identifier) @name (typed_expression . (identifier) @name)])) @def.enum
  (#any-of? @verb "enum"))
((macrocall_expression
  (macro_identifier (identifier) @verb)
  (macro_argument_list . (_) [
    (identifier) @name @def.enumerator
    (assignment . (identifier) @name) @def.enumerator
    (compound_statement (identifier) @name @def.enumerator)
    (compound_statement (assignment . (identifier) @name) @def.enumerator)
  ]))
  (#any-of? @verb "enum"))
(const_statement (assignment . (identifier) @name)) @def.constant
(const_statement (assignment . (typed_expression . (identifier) @name))) @def.constant
(const_statement (assignment . (open_tuple (identifier) @name @def.constant)))
(assignment . (identifier) @name) @def.variable
(assignment . (typed_expression . (identifier) @name)) @def.variable
(assignment . (open_tuple (identifier) @name @def.variable))
(assignment . (tuple_expression (identifier) @name @def.variable))

(function_definition) @region
(assignment . (call_expression . (parenthesized_expression))) @region
(assignment . (where_expression . (call_expression . (parenthesized_expression)))) @region
(let_statement) @region
(for_statement) @region
(while_statement) @region
(try_statement) @region
(arrow_function_expression) @region
(do_clause) @region
(comprehension_expression) @region
(macrocall_expression (macro_argument_list) @region)

(signature (call_expression (argument_list [
  (identifier) @local
  (typed_expression . (identifier) @local)
  (typed_expression . (tuple_expression (identifier) @local))
  (named_argument . (identifier) @local)
  (named_argument . (typed_expression . (identifier) @local))
  (splat_expression (identifier) @local)
  (splat_expression (typed_expression . (identifier) @local))
  (tuple_expression (identifier) @local)
])))
(signature (_ . (call_expression (argument_list [
  (identifier) @local
  (typed_expression . (identifier) @local)
  (typed_expression . (tuple_expression (identifier) @local))
  (named_argument . (identifier) @local)
  (named_argument . (typed_expression . (identifier) @local))
  (splat_expression (identifier) @local)
  (splat_expression (typed_expression . (identifier) @local))
  (tuple_expression (identifier) @local)
]))))
(signature (_ . (_ . (call_expression (argument_list [
  (identifier) @local
  (typed_expression . (identifier) @local)
  (typed_expression . (tuple_expression (identifier) @local))
  (named_argument . (identifier) @local)
  (named_argument . (typed_expression . (identifier) @local))
  (splat_expression (identifier) @local)
  (splat_expression (typed_expression . (identifier) @local))
  (tuple_expression (identifier) @local)
])))))
(assignment . (call_expression (argument_list [
  (identifier) @local
  (typed_expression . (identifier) @local)
  (typed_expression . (tuple_expression (identifier) @local))
  (named_argument . (identifier) @local)
  (named_argument . (typed_expression . (identifier) @local))
  (splat_expression (identifier) @local)
  (splat_expression (typed_expression . (identifier) @local))
  (tuple_expression (identifier) @local)
])))
(assignment . (typed_expression . (call_expression (argument_list [
  (identifier) @local
  (typed_expression . (identifier) @local)
  (typed_expression . (tuple_expression (identifier) @local))
  (named_argument . (identifier) @local)
  (named_argument . (typed_expression . (identifier) @local))
  (splat_expression (identifier) @local)
  (splat_expression (typed_expression . (identifier) @local))
  (tuple_expression (identifier) @local)
]))))
(assignment . (where_expression . (call_expression (argument_list [
  (identifier) @local
  (typed_expression . (identifier) @local)
  (typed_expression . (tuple_expression (identifier) @local))
  (named_argument . (identifier) @local)
  (named_argument . (typed_expression . (identifier) @local))
  (splat_expression (identifier) @local)
  (splat_expression (typed_expression . (identifier) @local))
  (tuple_expression (identifier) @local)
]))))
(assignment . (where_expression . (typed_expression . (call_expression (argument_list [
  (identifier) @local
  (typed_expression . (identifier) @local)
  (typed_expression . (tuple_expression (identifier) @local))
  (named_argument . (identifier) @local)
  (named_argument . (typed_expression . (identifier) @local))
  (splat_expression (identifier) @local)
  (splat_expression (typed_expression . (identifier) @local))
  (tuple_expression (identifier) @local)
])))))
(signature (call_expression . (parenthesized_expression (typed_expression . (identifier) @local))))
(signature
  (_ . (call_expression . (parenthesized_expression (typed_expression . (identifier) @local)))))
(assignment
  . (call_expression . (parenthesized_expression (typed_expression . (identifier) @local))))
(where_expression (identifier) @local .)
(where_expression (binary_expression . (identifier) @local) .)
(where_expression
  (curly_expression [(identifier) @local (binary_expression . (identifier) @local)]))
(type_head
  (parametrized_type_expression
    (curly_expression [(identifier) @local (binary_expression . (identifier) @local)])))
(type_head
  (binary_expression
    . (parametrized_type_expression
      (curly_expression [(identifier) @local (binary_expression . (identifier) @local)]))))
(let_binding . (identifier) @local)
(for_binding . (identifier) @local)
(for_binding . (tuple_expression (identifier) @local))
(arrow_function_expression . (identifier) @local)
(arrow_function_expression . (argument_list [
  (identifier) @local
  (typed_expression . (identifier) @local)
  (typed_expression . (tuple_expression (identifier) @local))
  (named_argument . (identifier) @local)
  (named_argument . (typed_expression . (identifier) @local))
  (splat_expression (identifier) @local)
  (splat_expression (typed_expression . (identifier) @local))
  (tuple_expression (identifier) @local)
]))
(do_clause . (argument_list [
  (identifier) @local
  (typed_expression . (identifier) @local)
  (typed_expression . (tuple_expression (identifier) @local))
  (named_argument . (identifier) @local)
  (named_argument . (typed_expression . (identifier) @local))
  (splat_expression (identifier) @local)
  (splat_expression (typed_expression . (identifier) @local))
  (tuple_expression (identifier) @local)
]))
(catch_clause . (identifier) @local)
(local_statement (identifier) @local)
(global_statement (identifier) @outer)
(global_statement (assignment . (identifier) @outer))
(global_statement (compound_assignment_expression . (identifier) @outer))

(using_statement [(identifier) (scoped_identifier) (import_path)] @import)
(import_statement [(identifier) (scoped_identifier) (import_path)] @import)
(selected_import . [(identifier) (scoped_identifier) (import_path)] @import)
(using_statement (import_alias . [(identifier) (scoped_identifier) (import_path)] @import))
(import_statement (import_alias . [(identifier) (scoped_identifier) (import_path)] @import))
((call_expression . (identifier) @verb (argument_list . (string_literal (content) @import)))
  (#any-of? @verb "include"))
(selected_import (_) (import_alias (identifier) @ignore))
(selected_import (_) @ignore)
(import_alias (identifier) @ignore)
(scoped_identifier (identifier) @ignore)
(import_path (identifier) @ignore)
(named_argument . (identifier) @ignore)
(named_argument . (typed_expression . (identifier) @ignore))
(named_field . (identifier) @ignore)
(prefixed_string_literal prefix: (identifier) @ignore)
(quote_expression (identifier) @ignore)

(type_head (binary_expression (identifier) @name .)) @ref.implementation
(type_head
  (binary_expression (parametrized_type_expression . (identifier) @name) .)) @ref.implementation
(call_expression . (identifier) @name) @ref.call
(call_expression . (parametrized_type_expression . (identifier) @name)) @ref.instantiate
(call_expression . (field_expression value: (identifier) @name)) @ref.read
(call_expression . (field_expression (identifier) @name)) @ref.call
(broadcast_call_expression . (identifier) @name) @ref.call
(broadcast_call_expression . (field_expression value: (identifier) @name)) @ref.read
(broadcast_call_expression . (field_expression (identifier) @name)) @ref.call
(macrocall_expression (macro_identifier (identifier) @name)) @ref.call
(assignment . (field_expression value: (identifier) @name)) @ref.read
(assignment . (field_expression (identifier) @name)) @ref.write
(compound_assignment_expression . (field_expression value: (identifier) @name)) @ref.read
(compound_assignment_expression . (field_expression (identifier) @name)) @ref.write
(compound_assignment_expression . (identifier) @name) @ref.write
((identifier) @name @ref.read)
