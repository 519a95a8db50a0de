; Java: types, members and what uses them.

(class_declaration name: (identifier) @name) @def.class
(record_declaration name: (identifier) @name) @def.class
(interface_declaration name: (identifier) @name) @def.interface
(annotation_type_declaration name: (identifier) @name) @def.interface
(enum_declaration name: (identifier) @name) @def.enum
(enum_constant name: (identifier) @name) @def.enumerator
(method_declaration name: (identifier) @name) @def.method
(constructor_declaration name: (identifier) @name) @def.constructor
(field_declaration declarator: (variable_declarator name: (identifier) @name)) @def.field

(formal_parameter name: (identifier) @local)
(local_variable_declaration declarator: (variable_declarator name: (identifier) @local))

(import_declaration (scoped_identifier) @import)
(import_declaration (identifier) @import)

((method_declaration
  (modifiers (marker_annotation name: (identifier) @verb)) name: (identifier) @name) @ref.override
  (#any-of? @verb "Override"))
(superclass (type_identifier) @name) @ref.implementation
(super_interfaces (type_list (type_identifier) @name)) @ref.implementation
(super_interfaces (type_list (generic_type (type_identifier) @name))) @ref.implementation
(extends_interfaces (type_list (type_identifier) @name)) @ref.implementation
(object_creation_expression type: (type_identifier) @name) @ref.instantiate
(object_creation_expression type: (generic_type (type_identifier) @name)) @ref.instantiate
(method_invocation name: (identifier) @name) @ref.call
(marker_annotation name: (identifier) @name) @ref.read
(assignment_expression left: (identifier) @name) @ref.write
(assignment_expression left: (field_access field: (identifier) @name)) @ref.write
(field_access field: (identifier) @name) @ref.read
(method_invocation object: (identifier) @name) @ref.read
(argument_list (identifier) @name) @ref.read
(return_statement (identifier) @name) @ref.read
((type_identifier) @name @ref.read)
