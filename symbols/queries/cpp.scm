; C++: classes, namespaces, templates and members, then what C has.

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

(function_definition declarator: (function_declarator declarator: (identifier) @name)) @def.function
(function_definition
  declarator: (pointer_declarator
    declarator: (function_declarator declarator: (identifier) @name))) @def.function
(function_definition
  declarator: (pointer_declarator
    declarator: (pointer_declarator
      declarator: (function_declarator declarator: (identifier) @name)))) @def.function
(declaration declarator: (function_declarator declarator: (identifier) @name)) @def.prototype
(declaration
  declarator: (pointer_declarator
    declarator: (function_declarator declarator: (identifier) @name))) @def.prototype
(struct_specifier name: (type_identifier) @name body: (_)) @def.struct
(union_specifier name: (type_identifier) @name body: (_)) @def.union
(enum_specifier name: (type_identifier) @name body: (_)) @def.enum
(enumerator name: (identifier) @name) @def.enumerator
(type_definition declarator: (type_identifier) @name) @def.type
(type_definition
  declarator: (pointer_declarator declarator: (type_identifier) @name)) @def.type
(type_definition
  declarator: (function_declarator
    declarator: (parenthesized_declarator
      (pointer_declarator declarator: (type_identifier) @name)))) @def.type
(preproc_def name: (identifier) @name) @def.macro
(preproc_function_def name: (identifier) @name) @def.macro
(field_declaration declarator: (field_identifier) @name) @def.field
(field_declaration
  declarator: (pointer_declarator declarator: (field_identifier) @name)) @def.field
(field_declaration
  declarator: (array_declarator declarator: (field_identifier) @name)) @def.field
(declaration declarator: (identifier) @name) @def.variable
(declaration declarator: (array_declarator declarator: (identifier) @name)) @def.variable
(declaration declarator: (pointer_declarator declarator: (identifier) @name)) @def.variable
(declaration declarator: (init_declarator declarator: (identifier) @name)) @def.variable
(declaration
  declarator: (init_declarator
    declarator: (pointer_declarator declarator: (identifier) @name))) @def.variable
(declaration
  declarator: (init_declarator
    declarator: (array_declarator declarator: (identifier) @name))) @def.variable

(parameter_declaration declarator: (identifier) @local)
(parameter_declaration declarator: (pointer_declarator declarator: (identifier) @local))
(parameter_declaration
  declarator: (pointer_declarator
    declarator: (pointer_declarator declarator: (identifier) @local)))
(parameter_declaration declarator: (array_declarator declarator: (identifier) @local))

(preproc_include path: (_) @import)

(call_expression function: (identifier) @name) @ref.call
(call_expression function: (field_expression field: (field_identifier) @name)) @ref.call
(assignment_expression left: (identifier) @name) @ref.write
(assignment_expression left: (field_expression field: (field_identifier) @name)) @ref.write
(update_expression argument: (identifier) @name) @ref.write
(field_expression field: (field_identifier) @name) @ref.read
(argument_list (identifier) @name) @ref.read
(argument_list (pointer_expression argument: (identifier) @name)) @ref.read
(init_declarator value: (identifier) @name) @ref.read
(initializer_list (identifier) @name) @ref.read
(initializer_pair value: (identifier) @name) @ref.read
(return_statement (identifier) @name) @ref.read
(binary_expression (identifier) @name) @ref.read
(case_statement value: (identifier) @name) @ref.read
(conditional_expression (identifier) @name) @ref.read
((type_identifier) @name @ref.read)
