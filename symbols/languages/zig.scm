; Zig: functions, containers, constants and what uses them.

(struct_declaration (function_declaration name: (identifier) @name) @def.method)
(enum_declaration (function_declaration name: (identifier) @name) @def.method)
(union_declaration (function_declaration name: (identifier) @name) @def.method)
(opaque_declaration (function_declaration name: (identifier) @name) @def.method)
(function_declaration name: (identifier) @name) @def.function
(variable_declaration ["const" "var"] . (identifier) @name (struct_declaration)) @def.struct
(variable_declaration ["const" "var"] . (identifier) @name (enum_declaration)) @def.enum
(variable_declaration ["const" "var"] . (identifier) @name (union_declaration)) @def.union
(variable_declaration ["const" "var"] . (identifier) @name (opaque_declaration)) @def.type
(variable_declaration ["const" "var"] . (identifier) @name (error_set_declaration)) @def.enum
(variable_declaration "const" . (identifier) @name) @def.constant
(variable_declaration "var" . (identifier) @name) @def.variable
(enum_declaration (container_field name: (identifier) @name) @def.enumerator)
(error_set_declaration (identifier) @name @def.enumerator)
(container_field name: (identifier) @name) @def.field
(test_declaration (block) @region)
(comptime_declaration (block) @region)

(parameter name: (identifier) @local)
(payload (identifier) @local)

((builtin_function (builtin_identifier) @verb (arguments (string (string_content) @import)))
  (#any-of? @verb "@import"))

(block_label (identifier) @ignore)
(break_label (identifier) @ignore)
(struct_initializer (identifier) @name) @ref.instantiate
(struct_initializer (field_expression member: (identifier) @name)) @ref.instantiate
(call_expression function: (identifier) @name) @ref.call
(call_expression function: (field_expression member: (identifier) @name)) @ref.call
; An assignment is a declaration without its word to this grammar.
(variable_declaration . (identifier) @name) @ref.write
(variable_declaration . (field_expression member: (identifier) @name)) @ref.write
(assignment_expression left: (identifier) @name) @ref.write
(assignment_expression left: (field_expression member: (identifier) @name)) @ref.write
((identifier) @name @ref.read)
