; JavaScript: classes, fields, JSX; the rest is in script.scm.

(class_declaration name: (identifier) @name) @def.class
(field_definition
  property: (property_identifier) @name value: (arrow_function body: (_) @body)) @def.method
(field_definition
  property: (property_identifier) @name value: (function_expression body: (_) @body)) @def.method
(field_definition property: (property_identifier) @name) @def.field
(field_definition property: (private_property_identifier) @name) @def.field

(export_statement declaration: (class_declaration name: (identifier) @export))
(export_statement "default" declaration: (class_declaration name: (identifier) @give.default))

(formal_parameters (identifier) @local)
(class name: (identifier) @ignore)

(class_heritage (identifier) @name) @ref.implementation
(class_heritage (member_expression property: (property_identifier) @name)) @ref.implementation
(jsx_opening_element name: (identifier) @name) @ref.instantiate
(jsx_opening_element
  name: (member_expression property: (property_identifier) @name)) @ref.instantiate
(jsx_self_closing_element name: (identifier) @name) @ref.instantiate
(jsx_self_closing_element
  name: (member_expression property: (property_identifier) @name)) @ref.instantiate
(jsx_closing_element name: (identifier) @ignore)
(jsx_closing_element name: (member_expression object: (identifier) @ignore))
(jsx_closing_element name: (member_expression property: (property_identifier) @ignore))
