; C#: types, members and what uses them.

(class_declaration name: (identifier) @name) @def.class
(record_declaration name: (identifier) @name) @def.class
(struct_declaration name: (identifier) @name) @def.struct
(interface_declaration name: (identifier) @name) @def.interface
(enum_declaration name: (identifier) @name) @def.enum
(enum_member_declaration name: (identifier) @name) @def.enumerator
(delegate_declaration name: (identifier) @name) @def.type
(namespace_declaration name: (_) @name) @def.namespace
(method_declaration name: (identifier) @name) @def.method
(constructor_declaration name: (identifier) @name) @def.constructor
(property_declaration name: (identifier) @name) @def.field
(field_declaration
  (variable_declaration (variable_declarator name: (identifier) @name))) @def.field

(parameter name: (identifier) @local)
(local_declaration_statement
  (variable_declaration (variable_declarator name: (identifier) @local)))

(using_directive (qualified_name) @import)
(using_directive (identifier) @import)

((method_declaration (modifier) @verb name: (identifier) @name) @ref.override
  (#any-of? @verb "override"))
((property_declaration (modifier) @verb name: (identifier) @name) @ref.override
  (#any-of? @verb "override"))
(base_list (identifier) @name) @ref.implementation
(base_list (generic_name (identifier) @name)) @ref.implementation
(object_creation_expression type: (identifier) @name) @ref.instantiate
(invocation_expression function: (identifier) @name) @ref.call
(invocation_expression
  function: (member_access_expression name: (identifier) @name)) @ref.call
(assignment_expression left: (identifier) @name) @ref.write
(assignment_expression left: (member_access_expression name: (identifier) @name)) @ref.write
(member_access_expression name: (identifier) @name) @ref.read
(argument (identifier) @name) @ref.read
(variable_declaration type: (identifier) @name) @ref.read
(parameter type: (identifier) @name) @ref.read
