; Java: types, members and what uses them.

(class_declaration name: (identifier) @name) @def.class
(record_declaration name: (identifier) @name) @def.class
(interface_declaration name: (identifier) @name) @def.interface
(annotation_type_declaration name: (identifier) @name) @def.interface
(enum_declaration name: (identifier) @name) @def.enum
(enum_constant name: (identifier) @name) @def.enumerator
(method_declaration name: (identifier) @name) @def.method
(annotation_type_element_declaration name: (identifier) @name) @def.method
(constructor_declaration name: (identifier) @name) @def.constructor
(compact_constructor_declaration name: (identifier) @name) @def.constructor
(field_declaration
  (modifiers "static" "final")
  declarator: (variable_declarator name: (identifier) @name)) @def.constant
(field_declaration
  (modifiers "final" "static")
  declarator: (variable_declarator name: (identifier) @name)) @def.constant
(constant_declaration declarator: (variable_declarator name: (identifier) @name)) @def.constant
(field_declaration declarator: (variable_declarator name: (identifier) @name)) @def.field
(record_declaration
  parameters: (formal_parameters (formal_parameter name: (identifier) @name) @def.field))

(lambda_expression) @region
(type_parameter (type_identifier) @local)
(formal_parameter name: (identifier) @local)
(spread_parameter (variable_declarator name: (identifier) @local))
(catch_formal_parameter name: (identifier) @local)
(lambda_expression parameters: (identifier) @local)
(inferred_parameters (identifier) @local)
(local_variable_declaration declarator: (variable_declarator name: (identifier) @local))
(enhanced_for_statement name: (identifier) @local)
(resource name: (identifier) @local)
(instanceof_expression name: (identifier) @local)
(type_pattern (identifier) @local)
(record_pattern_component (identifier) @local)

(import_declaration (scoped_identifier) @import)
(import_declaration (identifier) @import)

((method_declaration
  (modifiers (marker_annotation name: (identifier) @verb)) name: (identifier) @name) @ref.override
  (#any-of? @verb "Override"))
(superclass (type_identifier) @name) @ref.implementation
(superclass (generic_type (type_identifier) @name)) @ref.implementation
(superclass (scoped_type_identifier (type_identifier) @name .)) @ref.implementation
(superclass
  (generic_type (scoped_type_identifier (type_identifier) @name .))) @ref.implementation
(type_list (type_identifier) @name) @ref.implementation
(type_list (generic_type (type_identifier) @name)) @ref.implementation
(type_list (scoped_type_identifier (type_identifier) @name .)) @ref.implementation
(type_list
  (generic_type (scoped_type_identifier (type_identifier) @name .))) @ref.implementation
(object_creation_expression type: (type_identifier) @name) @ref.instantiate
(object_creation_expression type: (generic_type (type_identifier) @name)) @ref.instantiate
(object_creation_expression
  type: (scoped_type_identifier (type_identifier) @name .)) @ref.instantiate
(object_creation_expression
  type: (generic_type (scoped_type_identifier (type_identifier) @name .))) @ref.instantiate
(explicit_constructor_invocation constructor: (super) @name) @ref.call
(explicit_constructor_invocation constructor: (this) @name) @ref.call
(method_invocation name: (identifier) @name) @ref.call
(assignment_expression left: (identifier) @name) @ref.write
(assignment_expression left: (field_access field: (identifier) @name)) @ref.write
(update_expression (identifier) @name) @ref.write
(update_expression (field_access field: (identifier) @name)) @ref.write
(annotation name: (scoped_identifier name: (identifier) @name)) @ref.read
(marker_annotation name: (scoped_identifier name: (identifier) @name)) @ref.read

(package_declaration (identifier) @ignore)
(scoped_identifier (identifier) @ignore)
(module_declaration name: (identifier) @ignore)
(element_value_pair key: (identifier) @ignore)
(labeled_statement (identifier) @ignore)
(break_statement (identifier) @ignore)
(continue_statement (identifier) @ignore)
((type_identifier) @ignore (#any-of? @ignore "var"))

((identifier) @name @ref.read)
((type_identifier) @name @ref.read)
