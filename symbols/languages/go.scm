; Go: functions, methods, types, constants, variables and what uses them.

(function_declaration name: (identifier) @name) @def.function
(method_declaration
  receiver: (parameter_list
    (parameter_declaration
      type: [
        (type_identifier) @container
        (generic_type type: (type_identifier) @container)
        (pointer_type (type_identifier) @container)
        (pointer_type (generic_type type: (type_identifier) @container))
      ]))
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
(func_literal) @region

(parameter_declaration name: (identifier) @local)
(variadic_parameter_declaration name: (identifier) @local)
(short_var_declaration left: (expression_list (identifier) @local))
(range_clause left: (expression_list (identifier) @local))
(receive_statement left: (expression_list (identifier) @local))
(type_switch_statement alias: (expression_list (identifier) @local))
(type_parameter_declaration name: (identifier) @local.type)
(method_declaration
  receiver: (parameter_list
    (parameter_declaration
      type: [
        (generic_type type_arguments: (type_arguments (type_elem (type_identifier) @local.type)))
        (pointer_type
          (generic_type type_arguments: (type_arguments (type_elem (type_identifier) @local.type))))
      ])))

(import_spec path: (interpreted_string_literal) @import)
(import_spec path: (raw_string_literal) @import)

(package_clause (package_identifier) @ignore)
(import_spec name: (package_identifier) @ignore)
; What is embedded lends its members.
(field_declaration
  !name
  type: [
    (type_identifier) @name.type
    (generic_type type: (type_identifier) @name.type)
    (qualified_type name: (type_identifier) @name.type)
  ]) @ref.implementation
(interface_type (type_elem . (type_identifier) @name.type .)) @ref.implementation
(interface_type
  (type_elem . (qualified_type name: (type_identifier) @name.type) .)) @ref.implementation
((call_expression
  function: (identifier) @verb arguments: (argument_list . (type_identifier) @name.type))
  @ref.instantiate
  (#any-of? @verb "new"))
((call_expression
  function: (identifier) @verb
  arguments: (argument_list . (qualified_type name: (type_identifier) @name.type)))
  @ref.instantiate
  (#any-of? @verb "new"))
(composite_literal
  type: [
    (type_identifier) @name.type
    (generic_type type: (type_identifier) @name.type)
    (qualified_type name: (type_identifier) @name.type)
  ]) @ref.instantiate
; Keys of maps and arrays are values, those of all else are members.
(composite_literal
  type: [(map_type) (array_type) (slice_type) (implicit_length_array_type)]
  body: (literal_value
    (keyed_element key: (literal_element (identifier) @name)))) @ref.read
(keyed_element key: (literal_element (identifier) @name.field)) @ref.write
(call_expression function: (identifier) @name) @ref.call
(call_expression function: (selector_expression field: (field_identifier) @name)) @ref.call
(assignment_statement left: (expression_list (identifier) @name)) @ref.write
(assignment_statement
  left: (expression_list (selector_expression field: (field_identifier) @name))) @ref.write
(inc_statement (identifier) @name) @ref.write
(inc_statement (selector_expression field: (field_identifier) @name)) @ref.write
(dec_statement (identifier) @name) @ref.write
(dec_statement (selector_expression field: (field_identifier) @name)) @ref.write
(selector_expression field: (field_identifier) @name) @ref.read
((package_identifier) @name @ref.read)
((type_identifier) @name.type @ref.read)
((identifier) @name @ref.read)
