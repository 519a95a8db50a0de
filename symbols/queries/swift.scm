; Swift: types, functions, properties and what uses them.

(class_declaration "struct" name: (type_identifier) @name) @def.struct
(class_declaration "enum" name: (type_identifier) @name) @def.enum
(class_declaration "extension" name: (user_type . (type_identifier) @name .)) @scope
(class_declaration name: (type_identifier) @name) @def.class
(protocol_declaration name: (type_identifier) @name) @def.interface
(enum_entry name: (simple_identifier) @name @def.enumerator)
(typealias_declaration name: (type_identifier) @name) @def.type
(function_declaration name: (simple_identifier) @name) @def.function
(protocol_function_declaration name: (simple_identifier) @name) @def.method
(init_declaration "init" @name) @def.constructor
(protocol_property_declaration
  name: (pattern bound_identifier: (simple_identifier) @name)) @def.field
(class_body
  (property_declaration name: (pattern bound_identifier: (simple_identifier) @name)) @def.field)
(enum_class_body
  (property_declaration name: (pattern bound_identifier: (simple_identifier) @name)) @def.field)
(property_declaration name: (pattern bound_identifier: (simple_identifier) @name)) @def.variable

(parameter name: (simple_identifier) @local)
(for_statement item: (pattern bound_identifier: (simple_identifier) @local))
(lambda_parameter name: (simple_identifier) @local)

(import_declaration (identifier) @import)

((function_declaration
  (modifiers (member_modifier) @verb) name: (simple_identifier) @name) @ref.override
  (#any-of? @verb "override"))
((property_declaration
  (modifiers (member_modifier) @verb)
  name: (pattern bound_identifier: (simple_identifier) @name)) @ref.override
  (#any-of? @verb "override"))
(inheritance_specifier
  inherits_from: (user_type (type_identifier) @name .)) @ref.implementation
(call_expression (simple_identifier) @name) @ref.call
(call_expression
  (navigation_expression
    suffix: (navigation_suffix suffix: (simple_identifier) @name))) @ref.call
; "a + f(x)" is a call of "a + f" to this grammar.
(call_expression (_ rhs: (simple_identifier) @name)) @ref.call
(assignment
  target: (directly_assignable_expression (simple_identifier) @name)) @ref.write
(assignment
  target: (directly_assignable_expression
    (navigation_expression
      suffix: (navigation_suffix suffix: (simple_identifier) @name)))) @ref.write
(navigation_suffix suffix: (simple_identifier) @name) @ref.read
(navigation_expression target: (simple_identifier) @name) @ref.read
(value_argument value: (simple_identifier) @name) @ref.read
(control_transfer_statement result: (simple_identifier) @name) @ref.read
(user_type (type_identifier) @name) @ref.read
