; Rust: functions, types, traits, modules, macros and what uses them.

(function_item name: (identifier) @name) @def.function
(function_signature_item name: (identifier) @name) @def.function
(struct_item name: (type_identifier) @name) @def.struct
(union_item name: (type_identifier) @name) @def.union
(enum_item name: (type_identifier) @name) @def.enum
(enum_variant name: (identifier) @name) @def.enumerator
(trait_item name: (type_identifier) @name) @def.trait
(type_item name: (type_identifier) @name) @def.type
(associated_type name: (type_identifier) @name) @def.type
(const_item name: (identifier) @name) @def.constant
(static_item name: (identifier) @name) @def.variable
(macro_definition name: (identifier) @name) @def.macro
(mod_item name: (identifier) @name body: (_)) @def.module
(field_declaration name: (field_identifier) @name) @def.field
(impl_item
  trait: (_)
  type: [
    (type_identifier) @name
    (generic_type type: (type_identifier) @name)
    (scoped_type_identifier name: (type_identifier) @name)
    (generic_type type: (scoped_type_identifier name: (type_identifier) @name))
    (reference_type type: (type_identifier) @name)
    (array_type) @name
    (tuple_type) @name
    (dynamic_type) @name
    (primitive_type) @name
  ]) @promise
(impl_item
  type: [
    (type_identifier) @name
    (generic_type type: (type_identifier) @name)
    (scoped_type_identifier name: (type_identifier) @name)
    (generic_type type: (scoped_type_identifier name: (type_identifier) @name))
  ]) @scope
(closure_expression) @region

; A name in a pattern that begins with a capital is a constant or a variant, and none of these.
(parameter pattern: (identifier) @local.lower)
(let_declaration pattern: (identifier) @local.lower)
(let_condition pattern: (identifier) @local.lower)
(for_expression pattern: (identifier) @local.lower)
(closure_parameters (identifier) @local.lower)
(match_pattern (identifier) @local.lower)
(tuple_pattern (identifier) @local.lower)
(tuple_struct_pattern (identifier) @local.lower)
(slice_pattern (identifier) @local.lower)
(mut_pattern (identifier) @local.lower)
(ref_pattern (identifier) @local.lower)
(reference_pattern (identifier) @local.lower)
(captured_pattern (identifier) @local.lower)
(or_pattern (identifier) @local.lower)
(field_pattern name: (shorthand_field_identifier) @local)
(field_pattern pattern: (identifier) @local.lower)
(type_parameter name: (type_identifier) @local.type)
(const_parameter name: (identifier) @local.type)

(use_declaration argument: (_) @import)
(use_list (scoped_use_list list: (use_list) @import))
(mod_item name: (identifier) @import !body)
(extern_crate_declaration name: (identifier) @import)
(extern_crate_declaration alias: (identifier) @ignore)

(lifetime (identifier) @ignore)
(label (identifier) @ignore)
(attribute (identifier) @ignore)
(token_tree (identifier) @ignore)
(type_binding name: (type_identifier) @ignore)
(visibility_modifier (scoped_identifier name: (identifier) @ignore))
(visibility_modifier (identifier) @ignore)
(macro_definition (macro_rule (token_tree_pattern (identifier) @ignore)))
(impl_item trait: (_) body: (declaration_list (function_item name: (identifier) @name))) @ref.override
(impl_item
  trait: [
    (type_identifier) @name.type
    (generic_type type: (type_identifier) @name.type)
    (scoped_type_identifier name: (type_identifier) @name.type)
    (generic_type type: (scoped_type_identifier name: (type_identifier) @name.type))
  ]) @ref.implementation
(trait_item
  bounds: (trait_bounds
    [
      (type_identifier) @name.type
      (generic_type type: (type_identifier) @name.type)
      (scoped_type_identifier name: (type_identifier) @name.type)
    ])) @ref.implementation
(struct_expression
  name: [
    (type_identifier) @name.type
    (scoped_type_identifier name: (type_identifier) @name.type)
    (generic_type_with_turbofish type: (type_identifier) @name.type)
  ]) @ref.instantiate
(field_initializer field: (field_identifier) @name.field) @ref.write
(shorthand_field_initializer (identifier) @name.field) @ref.write
(field_pattern name: (field_identifier) @name.field) @ref.read
(call_expression
  function: [
    (identifier) @name
    (scoped_identifier name: (identifier) @name)
    (field_expression field: (field_identifier) @name)
    (generic_function function: (identifier) @name)
    (generic_function function: (scoped_identifier name: (identifier) @name))
    (generic_function function: (field_expression field: (field_identifier) @name))
  ]) @ref.call
(macro_invocation macro: (identifier) @name) @ref.call
(macro_invocation macro: (scoped_identifier name: (identifier) @name)) @ref.call
(assignment_expression left: (identifier) @name) @ref.write
(assignment_expression left: (field_expression field: (field_identifier) @name)) @ref.write
(assignment_expression left: (scoped_identifier name: (identifier) @name)) @ref.write
(compound_assignment_expr left: (identifier) @name) @ref.write
(compound_assignment_expr left: (field_expression field: (field_identifier) @name)) @ref.write
(compound_assignment_expr left: (scoped_identifier name: (identifier) @name)) @ref.write
(field_expression field: (field_identifier) @name) @ref.read
((type_identifier) @name.type @ref.read)
((identifier) @name @ref.read)
