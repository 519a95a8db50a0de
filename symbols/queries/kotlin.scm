; Kotlin: functions, types, properties and what uses them.

(function_declaration name: (identifier) @name) @def.function
(class_declaration "interface" name: (identifier) @name) @def.interface
((class_declaration (modifiers (class_modifier) @verb) name: (identifier) @name) @def.enum
  (#any-of? @verb "enum"))
(class_declaration name: (identifier) @name) @def.class
(object_declaration name: (identifier) @name) @def.class
(type_alias type: (identifier) @name) @def.type
(class_body (property_declaration (variable_declaration (identifier) @name)) @def.field)
(class_parameter ["val" "var"] (identifier) @name) @def.field
(property_declaration (variable_declaration (identifier) @name)) @def.variable
(enum_entry (identifier) @name) @def.enumerator

(parameter (identifier) @local)
(for_statement (variable_declaration (identifier) @local))

(import (qualified_identifier) @import)
(import (identifier) @import)

((function_declaration
  (modifiers (member_modifier) @verb) name: (identifier) @name) @ref.override
  (#any-of? @verb "override"))
((property_declaration
  (modifiers (member_modifier) @verb) (variable_declaration (identifier) @name)) @ref.override
  (#any-of? @verb "override"))
(delegation_specifier (user_type (identifier) @name)) @ref.implementation
(delegation_specifier
  (constructor_invocation (user_type (identifier) @name))) @ref.implementation
(call_expression (identifier) @name) @ref.call
(call_expression (navigation_expression (identifier) @name .)) @ref.call
(assignment left: (identifier) @name) @ref.write
(assignment left: (navigation_expression (identifier) @name .)) @ref.write
(navigation_expression (_) (identifier) @name .) @ref.read
(value_argument (identifier) @name) @ref.read
(return_expression (identifier) @name) @ref.read
(user_type (identifier) @name) @ref.read
