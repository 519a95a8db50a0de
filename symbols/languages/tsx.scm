; TSX: these, besides what is in typescript.scm and script.scm.

(jsx_opening_element name: (identifier) @name) @ref.instantiate
(jsx_opening_element
  name: (member_expression property: (property_identifier) @name)) @ref.instantiate
(jsx_self_closing_element name: (identifier) @name) @ref.instantiate
(jsx_self_closing_element
  name: (member_expression property: (property_identifier) @name)) @ref.instantiate
(jsx_closing_element name: (identifier) @ignore)
(jsx_closing_element name: (member_expression object: (identifier) @ignore))
(jsx_closing_element name: (member_expression property: (property_identifier) @ignore))
