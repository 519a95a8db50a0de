; JavaScript: functions, classes, module variables, JSX, and what uses them.

(function_declaration name: (identifier) @name) @def.function
(generator_function_declaration name: (identifier) @name) @def.function
(class_declaration name: (identifier) @name) @def.class
(method_definition name: (property_identifier) @name) @def.method
(method_definition name: (private_property_identifier) @name) @def.method
(field_definition property: (property_identifier) @name) @def.field
(field_definition property: (private_property_identifier) @name) @def.field
(variable_declarator
  name: (identifier) @name value: [(arrow_function) (function_expression)]) @def.function
(variable_declarator name: (identifier) @name) @def.variable
(assignment_expression
  left: (member_expression property: (property_identifier) @name)
  right: [(arrow_function) (function_expression)]) @def.function

(formal_parameters (identifier) @local)
(formal_parameters (assignment_pattern left: (identifier) @local))
(arrow_function parameter: (identifier) @local)

(import_statement source: (string (string_fragment) @import))
(export_statement source: (string (string_fragment) @import))
((call_expression
  function: (identifier) @verb arguments: (arguments . (string (string_fragment) @import)))
  (#any-of? @verb "require"))
(call_expression
  function: (import) arguments: (arguments . (string (string_fragment) @import)))

(class_heritage (identifier) @name) @ref.implementation
(class_heritage (member_expression property: (property_identifier) @name)) @ref.implementation
(new_expression constructor: (identifier) @name) @ref.instantiate
(new_expression
  constructor: (member_expression property: (property_identifier) @name)) @ref.instantiate
(jsx_opening_element name: (identifier) @name) @ref.instantiate
(jsx_self_closing_element name: (identifier) @name) @ref.instantiate
(call_expression function: (identifier) @name) @ref.call
(call_expression function: (member_expression property: (property_identifier) @name)) @ref.call
(call_expression
  function: (member_expression property: (private_property_identifier) @name)) @ref.call
(assignment_expression left: (identifier) @name) @ref.write
(assignment_expression
  left: (member_expression property: (property_identifier) @name)) @ref.write
(member_expression property: (property_identifier) @name) @ref.read
(member_expression object: (identifier) @name) @ref.read
(arguments (identifier) @name) @ref.read
(export_specifier name: (identifier) @name) @ref.read
(return_statement (identifier) @name) @ref.read
