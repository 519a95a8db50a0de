; Go: functions, methods, types, constants, variables and what uses them.

(function_declaration name: (identifier) @name) @def.function
(method_declaration
  receiver: (parameter_list (parameter_declaration type: (type_identifier) @container))
  name: (field_identifier) @name) @def.method
(method_declaration
  receiver: (parameter_list
    (parameter_declaration type: (pointer_type (type_identifier) @container)))
  name: (field_identifier) @name) @def.method
(method_declaration name: (field_identifier) @name) @def.method
(type_spec name: (type_identifier) @name type: (struct_type)) @def.struct
(type_spec name: (type_identifier) @name type: (interface_type)) @def.interface
(type_spec name: (type_identifier) @name) @def.type
(type_alias name: (type_identifier) @name) @def.type
(const_spec name: (identifier) @name) @def.constant
(var_spec name: (identifier) @name) @def.variable
(field_declaration name: (field_identifier) @name) @def.field
(method_elem name: (field_identifier) @name) @def.method

(parameter_declaration name: (identifier) @local)
(short_var_declaration left: (expression_list (identifier) @local))
(range_clause left: (expression_list (identifier) @local))

(import_spec path: (interpreted_string_literal) @import)

(composite_literal type: (type_identifier) @name) @ref.instantiate
(composite_literal type: (qualified_type name: (type_identifier) @name)) @ref.instantiate
(call_expression function: (identifier) @name) @ref.call
(call_expression function: (selector_expression field: (field_identifier) @name)) @ref.call
(assignment_statement left: (expression_list (identifier) @name)) @ref.write
(assignment_statement
  left: (expression_list (selector_expression field: (field_identifier) @name))) @ref.write
(selector_expression field: (field_identifier) @name) @ref.read
(argument_list (identifier) @name) @ref.read
(return_statement (expression_list (identifier) @name)) @ref.read
((type_identifier) @name @ref.read)
