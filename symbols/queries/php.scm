; PHP: functions, types, members and what uses them.

(function_definition name: (name) @name) @def.function
(class_declaration name: (name) @name) @def.class
(interface_declaration name: (name) @name) @def.interface
(trait_declaration name: (name) @name) @def.trait
(enum_declaration name: (name) @name) @def.enum
(enum_case name: (name) @name) @def.enumerator
(method_declaration name: (name) @name) @def.method
(const_declaration (const_element (name) @name)) @def.constant
(property_declaration (property_element name: (variable_name (name) @name))) @def.field
(namespace_definition name: (namespace_name) @name) @def.namespace

(namespace_use_clause (qualified_name) @import)
(require_once_expression (string (string_content) @import))
(require_expression (string (string_content) @import))
(include_expression (string (string_content) @import))

((method_declaration
  attributes: (attribute_list (attribute_group (attribute [(name) (qualified_name)] @verb)))
  name: (name) @name) @ref.override
  (#any-of? @verb "Override" "\\Override"))
(base_clause (name) @name) @ref.implementation
(class_interface_clause (name) @name) @ref.implementation
(object_creation_expression (name) @name) @ref.instantiate
(function_call_expression function: (name) @name) @ref.call
(member_call_expression name: (name) @name) @ref.call
(nullsafe_member_call_expression name: (name) @name) @ref.call
(scoped_call_expression name: (name) @name) @ref.call
(scoped_call_expression scope: (name) @name) @ref.read
(assignment_expression left: (member_access_expression name: (name) @name)) @ref.write
(member_access_expression name: (name) @name) @ref.read
(nullsafe_member_access_expression name: (name) @name) @ref.read
(named_type (name) @name) @ref.read
