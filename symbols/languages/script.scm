; What JavaScript and TypeScript have in common. Names of a module that it does not export are its
; own; a script without imports, exports and require shares all of them.

; Definitions. The word with which the statement of a variable begins is part of its signature.
(function_declaration name: (identifier) @name) @def.function
(generator_function_declaration name: (identifier) @name) @def.function
((method_definition name: (property_identifier) @name) @def.constructor
  (#any-of? @name "constructor"))
(method_definition name: (property_identifier) @name) @def.method
(method_definition name: (private_property_identifier) @name) @def.method
(lexical_declaration (variable_declarator
  name: (identifier) @name value: (arrow_function body: (_) @body)) @def.function) @statement
(lexical_declaration (variable_declarator
  name: (identifier) @name value: (function_expression body: (_) @body)) @def.function) @statement
(lexical_declaration (variable_declarator
  name: (identifier) @name value: (class body: (_) @body)) @def.class) @statement
(lexical_declaration (variable_declarator name: (identifier) @name) @def.variable) @statement
(lexical_declaration (variable_declarator
  name: (object_pattern (shorthand_property_identifier_pattern) @name @def.variable))) @statement
(lexical_declaration (variable_declarator
  name: (object_pattern (pair_pattern value: (identifier) @name @def.variable)))) @statement
(lexical_declaration (variable_declarator
  name: (array_pattern (identifier) @name @def.variable))) @statement
(variable_declaration (variable_declarator
  name: (identifier) @name value: (arrow_function body: (_) @body)) @def.function) @statement
(variable_declaration (variable_declarator
  name: (identifier) @name value: (function_expression body: (_) @body)) @def.function) @statement
(variable_declaration (variable_declarator
  name: (identifier) @name value: (class body: (_) @body)) @def.class) @statement
(variable_declaration (variable_declarator name: (identifier) @name) @def.variable) @statement
(variable_declaration (variable_declarator
  name: (object_pattern (shorthand_property_identifier_pattern) @name @def.variable))) @statement

; Functions that are put in an object.
((assignment_expression
  left: (member_expression
    object: (member_expression
      object: (identifier) @container property: (property_identifier) @word)
    property: (property_identifier) @name)
  right: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @def.method
  (#any-of? @word "prototype"))
((assignment_expression
  left: (member_expression
    object: (identifier) @container property: (property_identifier) @name)
  right: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @def.method
  (#not-any-of? @container "exports" "module"))
(assignment_expression
  left: (member_expression object: (this) property: (property_identifier) @name)
  right: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @def.method
(assignment_expression
  left: (member_expression property: (property_identifier) @name)
  right: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @def.function
(variable_declarator value: (object (pair
  key: (property_identifier) @name
  value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @def.method))
(assignment_expression right: (object (pair
  key: (property_identifier) @name
  value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @def.method))
(export_statement value: (object (pair
  key: (property_identifier) @name
  value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @def.method))

; What a module exports.
(import_statement) @closed
(export_statement) @closed
(export_statement declaration: (function_declaration name: (identifier) @export))
(export_statement declaration: (generator_function_declaration name: (identifier) @export))
(export_statement
  declaration: (lexical_declaration (variable_declarator name: (identifier) @export)))
(export_statement declaration: (lexical_declaration (variable_declarator
  name: (object_pattern (shorthand_property_identifier_pattern) @export))))
(export_statement declaration: (lexical_declaration (variable_declarator
  name: (object_pattern (pair_pattern value: (identifier) @export)))))
(export_statement declaration: (lexical_declaration (variable_declarator
  name: (array_pattern (identifier) @export))))
(export_statement
  declaration: (variable_declaration (variable_declarator name: (identifier) @export)))
(export_statement value: (identifier) @export)
(export_specifier name: (identifier) @export)
((assignment_expression
  left: (member_expression object: (identifier) @word property: (property_identifier) @verb)
  right: (identifier) @export) @closed
  (#any-of? @word "module") (#any-of? @verb "exports"))
((assignment_expression left: (identifier) @word right: (identifier) @export) @closed
  (#any-of? @word "exports"))
((assignment_expression
  left: (member_expression object: (identifier) @word property: (property_identifier) @verb)
  right: (object (shorthand_property_identifier) @export)) @closed
  (#any-of? @word "module") (#any-of? @verb "exports"))
((assignment_expression
  left: (member_expression object: (identifier) @word property: (property_identifier) @verb)
  right: (object (pair value: (identifier) @export))) @closed
  (#any-of? @word "module") (#any-of? @verb "exports"))
((assignment_expression
  left: (member_expression object: (identifier) @word property: (property_identifier) @export))
  @closed
  (#any-of? @word "exports"))
((assignment_expression
  left: (member_expression object: (identifier) @word) right: (identifier) @export) @closed
  (#any-of? @word "exports"))
((assignment_expression
  left: (member_expression
    object: (member_expression object: (identifier) @word property: (property_identifier) @verb)
    property: (property_identifier) @export)) @closed
  (#any-of? @word "module") (#any-of? @verb "exports"))
((assignment_expression
  left: (member_expression
    object: (member_expression object: (identifier) @word property: (property_identifier) @verb))
  right: (identifier) @export) @closed
  (#any-of? @word "module") (#any-of? @verb "exports"))

; Names that others have for it.
(export_statement !source (export_clause (export_specifier !alias name: (identifier) @give)))
(export_statement !source (export_clause
  (export_specifier name: (identifier) @container alias: (identifier) @give)))
((export_statement !source (export_clause
  (export_specifier name: (identifier) @give.default alias: (identifier) @word)))
  (#any-of? @word "default"))
(export_statement "default" value: (identifier) @give.default)
(export_statement "default" declaration: (function_declaration name: (identifier) @give.default))
(export_statement
  "default" declaration: (generator_function_declaration name: (identifier) @give.default))
((assignment_expression
  left: (member_expression object: (identifier) @word property: (property_identifier) @verb)
  right: (identifier) @give.whole)
  (#any-of? @word "module") (#any-of? @verb "exports"))
((assignment_expression
  left: (member_expression object: (identifier) @word property: (property_identifier) @verb)
  right: (assignment_expression right: (identifier) @give.whole))
  (#any-of? @word "module") (#any-of? @verb "exports"))
((assignment_expression
  left: (identifier) @word
  right: (assignment_expression
    left: (member_expression property: (property_identifier) @verb)
    right: (identifier) @give.whole))
  (#any-of? @word "exports") (#any-of? @verb "exports"))
((assignment_expression
  left: (member_expression object: (identifier) @word property: (property_identifier) @verb)
  right: (new_expression constructor: (identifier) @give.whole))
  (#any-of? @word "module") (#any-of? @verb "exports"))
((assignment_expression
  left: (member_expression object: (identifier) @word property: (property_identifier) @verb)
  right: (object (pair key: (property_identifier) @give value: (identifier) @container)))
  (#any-of? @word "module") (#any-of? @verb "exports"))
((assignment_expression
  left: (member_expression object: (identifier) @word property: (property_identifier) @verb)
  right: (object (shorthand_property_identifier) @give))
  (#any-of? @word "module") (#any-of? @verb "exports"))
((assignment_expression
  left: (member_expression object: (identifier) @word property: (property_identifier) @give)
  right: (identifier) @container)
  (#any-of? @word "exports"))
((assignment_expression
  left: (member_expression
    object: (member_expression object: (identifier) @word property: (property_identifier) @verb)
    property: (property_identifier) @give)
  right: (identifier) @container)
  (#any-of? @word "module") (#any-of? @verb "exports"))

; Local names.
((arrow_function) @region)
((function_expression) @region)
((generator_function) @region)
((catch_clause) @region)
(program (for_in_statement) @region)
(program (for_statement) @region)
(arrow_function parameter: (identifier) @local)
(function_expression name: (identifier) @local)
(catch_clause parameter: (identifier) @local)
(for_in_statement left: (identifier) @local)
(assignment_pattern left: (identifier) @local)
(rest_pattern (identifier) @local)
(array_pattern (identifier) @local)
(pair_pattern value: (identifier) @local)
((shorthand_property_identifier_pattern) @local)

; Imports, whose names are read from the text.
(import_statement source: (string (string_fragment) @import))
(export_statement source: (string (string_fragment) @import))
((call_expression
  function: (identifier) @verb
  arguments: (arguments . (string (string_fragment) @import))) @closed
  (#any-of? @verb "require"))
(call_expression
  function: (import) arguments: (arguments . (string (string_fragment) @import)))
((variable_declarator
  name: (identifier) @imported
  value: (call_expression function: (identifier) @verb arguments: (arguments . (string))))
  (#any-of? @verb "require"))
((variable_declarator
  name: (identifier) @imported
  value: (member_expression
    object: (call_expression function: (identifier) @verb arguments: (arguments . (string)))))
  (#any-of? @verb "require"))
((variable_declarator
  name: (object_pattern (shorthand_property_identifier_pattern) @imported)
  value: (call_expression function: (identifier) @verb arguments: (arguments . (string))))
  (#any-of? @verb "require"))
((variable_declarator
  name: (object_pattern (pair_pattern value: (identifier) @imported))
  value: (call_expression function: (identifier) @verb arguments: (arguments . (string))))
  (#any-of? @verb "require"))
(namespace_import (identifier) @ignore)
(import_specifier alias: (identifier) @ignore)
(namespace_export (identifier) @ignore)
(export_specifier alias: (identifier) @ignore)

; References. A name in the statement that imports it is one of the module.
(import_statement
  (import_clause (named_imports (import_specifier name: (identifier) @name)))
  source: (string (string_fragment) @container)) @ref.read
(export_statement
  (export_clause (export_specifier name: (identifier) @name))
  source: (string (string_fragment) @container)) @ref.read
((variable_declarator
  name: (object_pattern (shorthand_property_identifier_pattern) @name)
  value: (call_expression
    function: (identifier) @verb
    arguments: (arguments . (string (string_fragment) @container)))) @ref.read
  (#any-of? @verb "require"))
((variable_declarator
  name: (object_pattern (pair_pattern key: (property_identifier) @name))
  value: (call_expression
    function: (identifier) @verb
    arguments: (arguments . (string (string_fragment) @container)))) @ref.read
  (#any-of? @verb "require"))
((member_expression
  object: (call_expression
    function: (identifier) @verb
    arguments: (arguments . (string (string_fragment) @container)))
  property: (property_identifier) @name) @ref.read
  (#any-of? @verb "require"))
(new_expression constructor: (identifier) @name) @ref.instantiate
(new_expression
  constructor: (member_expression property: (property_identifier) @name)) @ref.instantiate
(call_expression function: (super) @name) @ref.call
(call_expression function: (identifier) @name) @ref.call
(call_expression function: (member_expression property: (property_identifier) @name)) @ref.call
(call_expression
  function: (member_expression property: (private_property_identifier) @name)) @ref.call
(assignment_expression left: (identifier) @name) @ref.write
(assignment_expression
  left: (member_expression property: (property_identifier) @name)) @ref.write
(assignment_expression
  left: (member_expression property: (private_property_identifier) @name)) @ref.write
(augmented_assignment_expression left: (identifier) @name) @ref.write
(augmented_assignment_expression
  left: (member_expression property: (property_identifier) @name)) @ref.write
(augmented_assignment_expression
  left: (member_expression property: (private_property_identifier) @name)) @ref.write
(update_expression argument: (identifier) @name) @ref.write
(update_expression argument: (member_expression property: (property_identifier) @name)) @ref.write
(update_expression
  argument: (member_expression property: (private_property_identifier) @name)) @ref.write
(member_expression property: (property_identifier) @name) @ref.read
(member_expression property: (private_property_identifier) @name) @ref.read
((shorthand_property_identifier) @name @ref.read)
((identifier) @name @ref.read)
