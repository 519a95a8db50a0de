; C++: classes, namespaces, templates and members. What C has, c.scm says (grammar.c).

(class_specifier name: (type_identifier) @name body: (_)) @def.class
(namespace_definition name: (namespace_identifier) @name) @def.namespace
(alias_declaration name: (type_identifier) @name) @def.type
(concept_definition name: (identifier) @name) @def.type
(function_definition
  declarator: (function_declarator declarator: (field_identifier) @name)) @def.method
(function_definition
  declarator: (reference_declarator
    (function_declarator declarator: (field_identifier) @name))) @def.method
(function_definition
  declarator: (pointer_declarator
    declarator: (function_declarator declarator: (field_identifier) @name))) @def.method
(function_definition
  declarator: (function_declarator declarator: (destructor_name) @name)) @def.method
(function_definition
  declarator: (function_declarator declarator: (operator_name) @name)) @def.method
(function_definition
  declarator: (reference_declarator
    (function_declarator declarator: (identifier) @name))) @def.function
(function_definition
  declarator: (function_declarator
    declarator: (qualified_identifier scope: (_) @container name: (identifier) @name))) @def.method
(function_definition
  declarator: (function_declarator
    declarator: (qualified_identifier scope: (_) @container
      name: (destructor_name) @name))) @def.method
(function_definition
  declarator: (pointer_declarator
    declarator: (function_declarator
      declarator: (qualified_identifier scope: (_) @container
        name: (identifier) @name)))) @def.method
(field_declaration
  declarator: (function_declarator declarator: (field_identifier) @name)) @def.prototype
(field_declaration
  declarator: (pointer_declarator
    declarator: (function_declarator declarator: (field_identifier) @name))) @def.prototype
(field_declaration
  declarator: (reference_declarator
    (function_declarator declarator: (field_identifier) @name))) @def.prototype
(declaration declarator: (function_declarator declarator: (destructor_name) @name)) @def.prototype
(field_declaration_list (access_specifier) @access)
(parameter_declaration declarator: (reference_declarator (identifier) @local))

((field_declaration
  declarator: (function_declarator declarator: (field_identifier) @name (virtual_specifier) @verb))
  @ref.override
  (#any-of? @verb "override"))
((field_declaration
  declarator: (pointer_declarator
    declarator: (function_declarator
      declarator: (field_identifier) @name (virtual_specifier) @verb))) @ref.override
  (#any-of? @verb "override"))
((function_definition
  declarator: (function_declarator declarator: (field_identifier) @name (virtual_specifier) @verb))
  @ref.override
  (#any-of? @verb "override"))
(call_expression function: (qualified_identifier name: (identifier) @name)) @ref.call
(call_expression function: (template_function name: (identifier) @name)) @ref.call
(new_expression type: (type_identifier) @name) @ref.instantiate
(base_class_clause (type_identifier) @name) @ref.implementation
(base_class_clause (qualified_identifier name: (type_identifier) @name)) @ref.implementation
