; TypeScript: classes, interfaces, types, enums, namespaces and signatures; the rest is in
; script.scm. A constructor's parameter with a word of visibility is a field of the class. Members of
; types that are written where they are used are no definitions.

(class_declaration name: (type_identifier) @name) @def.class
(abstract_class_declaration name: (type_identifier) @name) @def.class
(interface_declaration name: (type_identifier) @name) @def.interface
(type_alias_declaration name: (type_identifier) @name) @def.type
(enum_declaration name: (identifier) @name) @def.enum
(enum_body name: (property_identifier) @name @def.enumerator)
(enum_assignment name: (property_identifier) @name) @def.enumerator
(internal_module name: [(identifier) (nested_identifier)] @name) @def.namespace
(module name: [(identifier) (nested_identifier)] @name) @def.namespace
(function_signature name: (identifier) @name) @def.function
(class_body (method_signature name: (property_identifier) @name) @def.method)
(abstract_method_signature name: (property_identifier) @name) @def.method
(public_field_definition
  name: (property_identifier) @name value: (arrow_function body: (_) @body)) @def.method
(public_field_definition
  name: (property_identifier) @name value: (function_expression body: (_) @body)) @def.method
(public_field_definition name: (property_identifier) @name) @def.field
(public_field_definition name: (private_property_identifier) @name) @def.field
(required_parameter (accessibility_modifier) pattern: (identifier) @name) @def.field
(required_parameter "readonly" pattern: (identifier) @name) @def.field
(optional_parameter (accessibility_modifier) pattern: (identifier) @name) @def.field
(interface_body (property_signature name: (property_identifier) @name) @def.field)
(interface_body (method_signature name: (property_identifier) @name) @def.method)
(type_alias_declaration
  value: (object_type (property_signature name: (property_identifier) @name) @def.field))
(type_alias_declaration
  value: (object_type (method_signature name: (property_identifier) @name) @def.method))
(type_alias_declaration value: (intersection_type
  (object_type (property_signature name: (property_identifier) @name) @def.field)))
(type_alias_declaration value: (union_type
  (object_type (property_signature name: (property_identifier) @name) @def.field)))

(export_statement declaration: (class_declaration name: (type_identifier) @export))
(export_statement declaration: (abstract_class_declaration name: (type_identifier) @export))
(export_statement declaration: (interface_declaration name: (type_identifier) @export))
(export_statement declaration: (type_alias_declaration name: (type_identifier) @export))
(export_statement declaration: (enum_declaration name: (identifier) @export))
(export_statement declaration: (internal_module name: (identifier) @export))
(export_statement declaration: (function_signature name: (identifier) @export))
(export_statement declaration: (ambient_declaration
  [(function_signature name: (identifier) @export)
   (lexical_declaration (variable_declarator name: (identifier) @export))
   (class_declaration name: (type_identifier) @export)
   (abstract_class_declaration name: (type_identifier) @export)
   (interface_declaration name: (type_identifier) @export)
   (enum_declaration name: (identifier) @export)
   (internal_module name: (identifier) @export)]))
(export_statement (identifier) @export)
(export_statement "=" (identifier) @give.whole)
(export_statement "default" declaration: (class_declaration name: (type_identifier) @give.default))
(export_statement
  "default" declaration: (abstract_class_declaration name: (type_identifier) @give.default))
(export_statement
  "default" declaration: (interface_declaration name: (type_identifier) @give.default))
(module body: (statement_block
  [(function_signature name: (identifier) @export)
   (lexical_declaration (variable_declarator name: (identifier) @export))
   (class_declaration name: (type_identifier) @export)
   (interface_declaration name: (type_identifier) @export)
   (type_alias_declaration name: (type_identifier) @export)]))

(required_parameter pattern: (identifier) @local)
(optional_parameter pattern: (identifier) @local)
(type_parameter name: (type_identifier) @local)
(mapped_type_clause name: (type_identifier) @local)
(infer_type (type_identifier) @local)
(class name: (type_identifier) @ignore)
(index_signature name: (identifier) @ignore)
(required_parameter name: (identifier) @ignore)
(optional_parameter name: (identifier) @ignore)
(import_alias (identifier) @ignore)
(import_require_clause (identifier) @ignore)

(import_require_clause source: (string (string_fragment) @import))

(method_definition (override_modifier) name: (property_identifier) @name) @ref.override
(method_signature (override_modifier) name: (property_identifier) @name) @ref.override
(public_field_definition (override_modifier) name: (property_identifier) @name) @ref.override
(extends_clause value: (identifier) @name) @ref.implementation
(extends_clause
  value: (member_expression property: (property_identifier) @name)) @ref.implementation
(implements_clause (type_identifier) @name) @ref.implementation
(implements_clause (generic_type name: (type_identifier) @name)) @ref.implementation
(implements_clause (nested_type_identifier name: (type_identifier) @name)) @ref.implementation
(implements_clause (generic_type
  name: (nested_type_identifier name: (type_identifier) @name))) @ref.implementation
(extends_type_clause type: (type_identifier) @name) @ref.implementation
(extends_type_clause type: (generic_type name: (type_identifier) @name)) @ref.implementation
(extends_type_clause
  type: (nested_type_identifier name: (type_identifier) @name)) @ref.implementation
((type_identifier) @name @ref.read)
