; Rust: functions, types, traits, modules, macros and what uses them.

(function_item name: (identifier) @name) @def.function
(function_signature_item name: (identifier) @name) @def.function
(struct_item name: (type_identifier) @name) @def.struct
(union_item name: (type_identifier) @name) @def.union
(enum_item name: (type_identifier) @name) @def.enum
(enum_variant name: (identifier) @name) @def.enumerator
(trait_item name: (type_identifier) @name) @def.trait
(type_item name: (type_identifier) @name) @def.type
(const_item name: (identifier) @name) @def.constant
(static_item name: (identifier) @name) @def.variable
(macro_definition name: (identifier) @name) @def.macro
(mod_item name: (identifier) @name body: (_)) @def.module
(field_declaration name: (field_identifier) @name) @def.field
(impl_item type: (type_identifier) @name) @scope
(impl_item type: (generic_type type: (type_identifier) @name)) @scope

(parameter pattern: (identifier) @local)
(let_declaration pattern: (identifier) @local)

(use_declaration argument: (_) @import)
(mod_item name: (identifier) @import !body)

(impl_item trait: (_) body: (declaration_list (function_item name: (identifier) @name))) @ref.override
(impl_item trait: (type_identifier) @name) @ref.implementation
(impl_item trait: (generic_type type: (type_identifier) @name)) @ref.implementation
(struct_expression name: (type_identifier) @name) @ref.instantiate
(call_expression function: (identifier) @name) @ref.call
(call_expression function: (scoped_identifier name: (identifier) @name)) @ref.call
(call_expression function: (field_expression field: (field_identifier) @name)) @ref.call
(generic_function function: (identifier) @name) @ref.call
(macro_invocation macro: (identifier) @name) @ref.call
(assignment_expression left: (identifier) @name) @ref.write
(assignment_expression left: (field_expression field: (field_identifier) @name)) @ref.write
(field_expression field: (field_identifier) @name) @ref.read
(arguments (identifier) @name) @ref.read
(scoped_identifier path: (identifier) @name) @ref.read
((type_identifier) @name @ref.read)
