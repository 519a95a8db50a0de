; TypeScript: what JavaScript has, interfaces, types, enums, namespaces and signatures.

(class_declaration name: (type_identifier) @name) @def.class
(abstract_class_declaration name: (type_identifier) @name) @def.class
(interface_declaration name: (type_identifier) @name) @def.interface
(type_alias_declaration name: (type_identifier) @name) @def.type
(enum_declaration name: (identifier) @name) @def.enum
(enum_body name: (property_identifier) @name @def.enumerator)
(enum_assignment name: (property_identifier) @name) @def.enumerator
(internal_module name: (identifier) @name) @def.namespace
(module name: (identifier) @name) @def.namespace
(function_signature name: (identifier) @name) @def.function
(method_signature name: (property_identifier) @name) @def.method
(abstract_method_signature name: (property_identifier) @name) @def.method
(public_field_definition name: (property_identifier) @name) @def.field
(public_field_definition name: (private_property_identifier) @name) @def.field
(property_signature name: (property_identifier) @name) @def.field

(required_parameter pattern: (identifier) @local)
(optional_parameter pattern: (identifier) @local)

((call_expression
  function: (identifier) @verb arguments: (arguments . (string (string_fragment) @import)))
  (#any-of? @verb "require"))
(call_expression
  function: (import) arguments: (arguments . (string (string_fragment) @import)))

(method_definition (override_modifier) name: (property_identifier) @name) @ref.override
(public_field_definition (override_modifier) name: (property_identifier) @name) @ref.override
(extends_clause value: (identifier) @name) @ref.implementation
(extends_clause value: (member_expression property: (property_identifier) @name)) @ref.implementation
(implements_clause (type_identifier) @name) @ref.implementation
(implements_clause (generic_type name: (type_identifier) @name)) @ref.implementation
(extends_type_clause type: (type_identifier) @name) @ref.implementation

(function_declaration name: (identifier) @name) @def.function
(generator_function_declaration name: (identifier) @name) @def.function
(method_definition name: (property_identifier) @name) @def.method
(method_definition name: (private_property_identifier) @name) @def.method
(variable_declarator
  name: (identifier) @name value: [(arrow_function) (function_expression)]) @def.function
(variable_declarator name: (identifier) @name) @def.variable
(assignment_expression
  left: (member_expression property: (property_identifier) @name)
  right: [(arrow_function) (function_expression)]) @def.function

(arrow_function parameter: (identifier) @local)

(import_statement source: (string (string_fragment) @import))
(export_statement source: (string (string_fragment) @import))

(new_expression constructor: (identifier) @name) @ref.instantiate
(new_expression
  constructor: (member_expression property: (property_identifier) @name)) @ref.instantiate
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
((type_identifier) @name @ref.read)
