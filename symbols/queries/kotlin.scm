; Kotlin: functions, types, properties and what uses them.

(function_declaration name: (identifier) @name) @def.function
(class_declaration name: (identifier) @name) @def.class
(object_declaration name: (identifier) @name) @def.class
(property_declaration (variable_declaration (identifier) @name)) @def.variable
(enum_entry (identifier) @name) @def.enumerator

(parameter (identifier) @local)

(import (qualified_identifier) @import)

(delegation_specifier (user_type (identifier) @name)) @ref.implementation
(delegation_specifier
  (constructor_invocation (user_type (identifier) @name))) @ref.implementation
(call_expression (identifier) @name) @ref.call
(call_expression (navigation_expression (identifier) @name .)) @ref.call
(user_type (identifier) @name) @ref.read
