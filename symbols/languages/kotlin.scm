; Kotlin: functions, types, properties and what uses them.

(function_declaration name: (identifier) @name) @def.function
(secondary_constructor "constructor" @name) @def.constructor
(class_declaration "interface" name: (identifier) @name) @def.interface
((class_declaration (modifiers (class_modifier) @verb) name: (identifier) @name) @def.enum
  (#any-of? @verb "enum"))
(class_declaration name: (identifier) @name) @def.class
(object_declaration name: (identifier) @name) @def.class
(companion_object name: (identifier) @name) @def.class
(type_alias type: (identifier) @name) @def.type
((property_declaration
  (modifiers (property_modifier) @verb) (variable_declaration . (identifier) @name)) @def.constant
  (#any-of? @verb "const"))
(class_body (property_declaration (variable_declaration (identifier) @name)) @def.field)
(enum_class_body (property_declaration (variable_declaration (identifier) @name)) @def.field)
(class_parameter ["val" "var"] (identifier) @name ":") @def.field
(property_declaration (variable_declaration (identifier) @name)) @def.variable
(enum_entry (identifier) @name) @def.enumerator

(lambda_literal) @region
(anonymous_function) @region
(type_parameter (identifier) @local)
(class_parameter (identifier) @local ":")
(parameter (identifier) @local)
(variable_declaration (identifier) @local)
(setter (identifier) @local)
(catch_block (identifier) @local)

(import (qualified_identifier) @import)
(import (identifier) @ignore)

((function_declaration
  (modifiers (member_modifier) @verb) name: (identifier) @name) @ref.override
  (#any-of? @verb "override"))
((property_declaration
  (modifiers (member_modifier) @verb) (variable_declaration (identifier) @name)) @ref.override
  (#any-of? @verb "override"))
((class_parameter
  (modifiers (member_modifier) @verb) (identifier) @name ":") @ref.override
  (#any-of? @verb "override"))
(delegation_specifier (user_type (identifier) @name .)) @ref.implementation
(delegation_specifier (user_type (identifier) @name . (type_arguments) .)) @ref.implementation
(explicit_delegation (user_type (identifier) @name .)) @ref.implementation
(explicit_delegation (user_type (identifier) @name . (type_arguments) .)) @ref.implementation
(delegation_specifier
  (constructor_invocation (user_type (identifier) @name .))) @ref.implementation
(delegation_specifier
  (constructor_invocation (user_type (identifier) @name . (type_arguments) .))) @ref.implementation
(constructor_delegation_call "this" @name) @ref.call
(constructor_delegation_call "super" @name) @ref.call
(call_expression (identifier) @name) @ref.call
(call_expression (navigation_expression (identifier) @name .)) @ref.call
(infix_expression (_) . (identifier) @name . (_)) @ref.call
(assignment left: (identifier) @name) @ref.write
(assignment left: (navigation_expression (identifier) @name .)) @ref.write
(unary_expression operator: ["++" "--"] argument: (identifier) @name) @ref.write
(unary_expression argument: (identifier) @name operator: ["++" "--"]) @ref.write
(unary_expression
  argument: (navigation_expression (identifier) @name .) operator: ["++" "--"]) @ref.write
((string_literal (string_content) @verb . (string_content) @name) @ref.read
  (#any-of? @verb "$"))

(package_header (qualified_identifier (identifier) @ignore))
(value_argument (identifier) @ignore "=")
(this_expression (identifier) @ignore)
(super_expression (identifier) @ignore)
((identifier) @ignore (#any-of? @ignore "null" "true" "false" "class" "continue" "break"))

((identifier) @name @ref.read)
