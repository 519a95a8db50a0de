; Zig: functions, containers, constants and what uses them.

(function_declaration name: (identifier) @name) @def.function
(variable_declaration ["const" "var"] . (identifier) @name (struct_declaration)) @def.struct
(variable_declaration ["const" "var"] . (identifier) @name (enum_declaration)) @def.enum
(variable_declaration ["const" "var"] . (identifier) @name (union_declaration)) @def.union
(variable_declaration ["const" "var"] . (identifier) @name (opaque_declaration)) @def.type
(variable_declaration ["const" "var"] . (identifier) @name (error_set_declaration)) @def.enum
(variable_declaration "const" . (identifier) @name) @def.constant
(variable_declaration "var" . (identifier) @name) @def.variable
(enum_declaration (container_field name: (identifier) @name) @def.enumerator)
(container_field name: (identifier) @name) @def.field

(parameter name: (identifier) @local)
(payload (identifier) @local)

((builtin_function (builtin_identifier) @verb (arguments (string (string_content) @import)))
  (#any-of? @verb "@import"))

(struct_initializer (identifier) @name) @ref.instantiate
(call_expression function: (identifier) @name) @ref.call
(call_expression function: (field_expression member: (identifier) @name)) @ref.call
; An assignment is a declaration without its word to this grammar.
((variable_declaration . (identifier) @name) @ref.write (#not-any-of? @name "_"))
(variable_declaration . (field_expression member: (identifier) @name)) @ref.write
(assignment_expression left: (identifier) @name) @ref.write
(assignment_expression left: (field_expression member: (identifier) @name)) @ref.write
(field_expression member: (identifier) @name) @ref.read
(field_expression object: (identifier) @name) @ref.read
(_ type: (identifier) @name) @ref.read
(pointer_type (identifier) @name) @ref.read
(nullable_type (identifier) @name) @ref.read
(slice_type (identifier) @name) @ref.read
(call_expression (identifier) @name) @ref.read
(initializer_list (identifier) @name) @ref.read
(assignment_expression right: (identifier) @name) @ref.read
(binary_expression (identifier) @name) @ref.read
(return_expression (identifier) @name) @ref.read
