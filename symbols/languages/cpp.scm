; C++: classes, namespaces, templates and members. What C has, c.scm says (grammar.c).

(class_specifier name: (type_identifier) @name body: (_)) @def.class
(class_specifier name: (template_type name: (type_identifier) @name) body: (_)) @def.class
(struct_specifier name: (template_type name: (type_identifier) @name) body: (_)) @def.struct
(namespace_definition name: (namespace_identifier) @name) @def.namespace
(namespace_definition
  name: (nested_namespace_specifier
    (namespace_identifier) @container . (namespace_identifier) @name)) @def.namespace
(namespace_definition
  name: (nested_namespace_specifier
    (namespace_identifier) @container
    (nested_namespace_specifier
      (namespace_identifier) @container . (namespace_identifier) @name))) @def.namespace
(alias_declaration name: (type_identifier) @name) @def.type
(concept_definition name: (identifier) @name) @def.type
(template_declaration) @head

; What initialises members is no part of a signature.
(function_definition
  declarator: (function_declarator declarator: (identifier) @name)
  (field_initializer_list) @body) @def.function
(function_definition
  declarator: (function_declarator
    declarator: (qualified_identifier scope: (_) @container name: (identifier) @name))
  (field_initializer_list) @body) @def.method
(function_definition
  declarator: (function_declarator
    declarator: (qualified_identifier
      scope: (_) @container
      name: (qualified_identifier scope: (_) @container name: (identifier) @name)))
  (field_initializer_list) @body) @def.method
(function_definition
  declarator: [
    (function_declarator declarator: (field_identifier) @name)
    (function_declarator declarator: (destructor_name) @name)
    (reference_declarator (function_declarator declarator: (field_identifier) @name))
    (pointer_declarator
      declarator: (function_declarator declarator: (field_identifier) @name))
  ]) @def.method
(function_definition
  declarator: [
    (function_declarator declarator: (operator_name) @name)
    (operator_cast) @name
    (reference_declarator
      [
        (function_declarator declarator: (identifier) @name)
        (function_declarator declarator: (operator_name) @name)
      ])
    (pointer_declarator declarator: (function_declarator declarator: (operator_name) @name))
  ]) @def.function
(function_definition
  declarator: [
    (function_declarator
      declarator: (qualified_identifier scope: (_) @container name: (identifier) @name))
    (function_declarator
      declarator: (qualified_identifier scope: (_) @container name: (destructor_name) @name))
    (function_declarator
      declarator: (qualified_identifier scope: (_) @container name: (operator_name) @name))
    (qualified_identifier scope: (_) @container name: (operator_cast) @name)
    (function_declarator
      declarator: (qualified_identifier
        scope: (_) @container
        name: (qualified_identifier scope: (_) @container name: (identifier) @name)))
    (reference_declarator
      (function_declarator
        declarator: (qualified_identifier scope: (_) @container name: (identifier) @name)))
    (reference_declarator
      (function_declarator
        declarator: (qualified_identifier scope: (_) @container name: (operator_name) @name)))
    (pointer_declarator
      declarator: (function_declarator
        declarator: (qualified_identifier scope: (_) @container name: (identifier) @name)))
  ]) @def.method
(field_declaration
  declarator: [
    (function_declarator declarator: (field_identifier) @name)
    (function_declarator declarator: (operator_name) @name)
    (pointer_declarator
      declarator: (function_declarator declarator: (field_identifier) @name))
    (reference_declarator (function_declarator declarator: (field_identifier) @name))
    (reference_declarator (function_declarator declarator: (operator_name) @name))
  ]) @def.prototype
(declaration
  declarator: [
    (function_declarator declarator: (destructor_name) @name)
    (function_declarator declarator: (operator_name) @name)
    (operator_cast) @name
    (reference_declarator (function_declarator declarator: (identifier) @name))
    (reference_declarator (function_declarator declarator: (operator_name) @name))
  ]) @def.prototype
((field_declaration
  (type_qualifier) @verb declarator: (field_identifier) @name) @def.constant
  (#any-of? @verb "constexpr"))
((declaration
  (type_qualifier) @verb
  declarator: (init_declarator declarator: (identifier) @name)) @def.constant
  (#any-of? @verb "constexpr"))
(field_declaration declarator: (reference_declarator (field_identifier) @name)) @def.field
(declaration declarator: (reference_declarator (identifier) @name)) @def.variable
(declaration
  declarator: (init_declarator declarator: (reference_declarator (identifier) @name)))
  @def.variable
(declaration
  declarator: (qualified_identifier scope: (_) @container name: (identifier) @name)) @def.field
(declaration
  declarator: (init_declarator
    declarator: (qualified_identifier scope: (_) @container name: (identifier) @name)))
  @def.field
(field_declaration_list (access_specifier) @access)

(type_parameter_declaration (type_identifier) @local.type)
(optional_type_parameter_declaration name: (type_identifier) @local.type)
(variadic_type_parameter_declaration (type_identifier) @local.type)
(template_parameter_list (parameter_declaration declarator: (identifier) @local.type))
(template_parameter_list (optional_parameter_declaration declarator: (identifier) @local.type))
(reference_declarator (identifier) @local)
(variadic_declarator (identifier) @local)
(optional_parameter_declaration declarator: (identifier) @local)
(structured_binding_declarator (identifier) @local)
(for_range_loop declarator: (identifier) @local)
(lambda_capture_initializer left: (identifier) @local)

; Where a definition is, not what it uses.
(function_declarator
  declarator: (qualified_identifier
    scope: [
      (namespace_identifier) @ignore
      (template_type name: (type_identifier) @ignore)
    ]))
(function_declarator
  declarator: (qualified_identifier
    name: (qualified_identifier
      scope: [
        (namespace_identifier) @ignore
        (template_type name: (type_identifier) @ignore)
      ])))
(function_definition
  declarator: (qualified_identifier scope: (namespace_identifier) @ignore))
(declaration declarator: (qualified_identifier scope: (namespace_identifier) @ignore))
(init_declarator declarator: (qualified_identifier scope: (namespace_identifier) @ignore))
(destructor_name (identifier) @ignore)
(nested_namespace_specifier (namespace_identifier) @ignore)

((field_declaration
  declarator: (function_declarator declarator: (field_identifier) @name (virtual_specifier) @verb))
  @ref.override
  (#any-of? @verb "override"))
((field_declaration
  declarator: (pointer_declarator
    declarator: (function_declarator
      declarator: (field_identifier) @name (virtual_specifier) @verb))) @ref.override
  (#any-of? @verb "override"))
((field_declaration
  declarator: (reference_declarator
    (function_declarator
      declarator: (field_identifier) @name (virtual_specifier) @verb))) @ref.override
  (#any-of? @verb "override"))
((function_definition
  declarator: (function_declarator
    declarator: [(field_identifier) (destructor_name)] @name (virtual_specifier) @verb))
  @ref.override
  (#any-of? @verb "override"))
((declaration
  declarator: (function_declarator
    declarator: (destructor_name) @name (virtual_specifier) @verb)) @ref.override
  (#any-of? @verb "override"))
(call_expression
  function: (qualified_identifier
    name: [
      (identifier) @name
      (template_function name: (identifier) @name)
      (qualified_identifier
        name: [
          (identifier) @name
          (template_function name: (identifier) @name)
          (qualified_identifier name: (identifier) @name)
        ])
    ])) @ref.call
(call_expression function: (template_function name: (identifier) @name)) @ref.call
(call_expression
  function: (field_expression field: (template_method name: (field_identifier) @name))) @ref.call
(field_initializer (template_method name: (field_identifier) @name)) @ref.call
(field_initializer (qualified_identifier name: (field_identifier) @name)) @ref.call
(field_initializer (field_identifier) @name) @ref.write
(assignment_expression left: (qualified_identifier name: (identifier) @name)) @ref.write
(update_expression argument: (qualified_identifier name: (identifier) @name)) @ref.write
(new_expression
  type: [
    (type_identifier) @name.type
    (template_type name: (type_identifier) @name.type)
    (qualified_identifier
      name: [
        (type_identifier) @name.type
        (template_type name: (type_identifier) @name.type)
      ])
  ]) @ref.instantiate
(compound_literal_expression
  type: [
    (type_identifier) @name.type
    (template_type name: (type_identifier) @name.type)
    (qualified_identifier
      name: [
        (type_identifier) @name.type
        (template_type name: (type_identifier) @name.type)
      ])
  ]) @ref.instantiate
(base_class_clause
  [
    (type_identifier) @name.type
    (template_type name: (type_identifier) @name.type)
    (qualified_identifier
      name: [
        (type_identifier) @name.type
        (template_type name: (type_identifier) @name.type)
      ])
  ]) @ref.implementation
((namespace_identifier) @name @ref.read)
