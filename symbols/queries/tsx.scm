; TSX: these, besides what is in typescript.scm.

(jsx_opening_element name: (identifier) @name) @ref.instantiate
(jsx_self_closing_element name: (identifier) @name) @ref.instantiate
