; C#: types, members and what uses them.

(class_declaration name: (identifier) @name) @def.class
(record_declaration name: (identifier) @name) @def.class
(struct_declaration name: (identifier) @name) @def.struct
(interface_declaration name: (identifier) @name) @def.interface
(enum_declaration name: (identifier) @name) @def.enum
(enum_member_declaration name: (identifier) @name) @def.enumerator
(delegate_declaration name: (identifier) @name) @def.type
(namespace_declaration name: (_) @name) @def.namespace
(file_scoped_namespace_declaration name: (_) @name) @def.namespace
(method_declaration name: (identifier) @name) @def.method
(local_function_statement name: (identifier) @name) @def.function
(constructor_declaration name: (identifier) @name) @def.constructor
(destructor_declaration name: (identifier) @name) @def.method
(indexer_declaration "this" @name) @def.method
(property_declaration
  name: (identifier) @name value: (arrow_expression_clause) @body) @def.field
(property_declaration name: (identifier) @name) @def.field
((field_declaration
  (modifier) @verb (variable_declaration (variable_declarator name: (identifier) @name)))
  @def.constant
  (#any-of? @verb "const"))
(field_declaration
  (variable_declaration (variable_declarator name: (identifier) @name))) @def.field
(event_field_declaration
  (variable_declaration (variable_declarator name: (identifier) @name))) @def.field
(event_declaration name: (identifier) @name) @def.field
(record_declaration (parameter_list (parameter name: (identifier) @name) @def.field))

(lambda_expression) @region
(anonymous_method_expression) @region
(type_parameter name: (identifier) @local)
(parameter name: (identifier) @local)
(parameter_list name: (identifier) @local)
(bracketed_parameter_list name: (identifier) @local)
(implicit_parameter) @local
(variable_declarator name: (identifier) @local)
(declaration_expression name: (identifier) @local)
(declaration_pattern name: (identifier) @local)
(recursive_pattern name: (identifier) @local)
(var_pattern name: (identifier) @local)
(list_pattern name: (identifier) @local)
(parenthesized_variable_designation name: (identifier) @local)
(tuple_pattern name: (identifier) @local)
(foreach_statement left: (identifier) @local)
(catch_declaration name: (identifier) @local)
(from_clause name: (identifier) @local)
(let_clause . (identifier) @local)
(join_clause . (identifier) @local)

(using_directive name: (identifier) @ignore)
(using_directive (qualified_name) @import)
(using_directive (identifier) @import)

((method_declaration (modifier) @verb name: (identifier) @name) @ref.override
  (#any-of? @verb "override"))
((property_declaration (modifier) @verb name: (identifier) @name) @ref.override
  (#any-of? @verb "override"))
(base_list (identifier) @name) @ref.implementation
(base_list (generic_name (identifier) @name)) @ref.implementation
(base_list (qualified_name name: (identifier) @name)) @ref.implementation
(base_list (qualified_name name: (generic_name (identifier) @name))) @ref.implementation
(primary_constructor_base_type type: (identifier) @name) @ref.implementation
(primary_constructor_base_type type: (generic_name (identifier) @name)) @ref.implementation
(primary_constructor_base_type type: (qualified_name name: (identifier) @name)) @ref.implementation
(object_creation_expression type: (identifier) @name) @ref.instantiate
(object_creation_expression type: (generic_name (identifier) @name)) @ref.instantiate
(object_creation_expression type: (qualified_name name: (identifier) @name)) @ref.instantiate
(object_creation_expression
  type: (qualified_name name: (generic_name (identifier) @name))) @ref.instantiate
(constructor_initializer "base" @name) @ref.call
(constructor_initializer "this" @name) @ref.call
((invocation_expression function: (identifier) @ignore) (#any-of? @ignore "nameof"))
(invocation_expression function: (identifier) @name) @ref.call
(invocation_expression function: (generic_name (identifier) @name)) @ref.call
(invocation_expression
  function: (member_access_expression name: (identifier) @name)) @ref.call
(invocation_expression
  function: (member_access_expression name: (generic_name (identifier) @name))) @ref.call
(invocation_expression
  function: (conditional_access_expression
    (member_binding_expression name: (identifier) @name))) @ref.call
(invocation_expression
  function: (conditional_access_expression
    (member_binding_expression name: (generic_name (identifier) @name)))) @ref.call
(assignment_expression left: (identifier) @name) @ref.write
(assignment_expression left: (member_access_expression name: (identifier) @name)) @ref.write
(prefix_unary_expression ["++" "--"] (identifier) @name) @ref.write
(prefix_unary_expression
  ["++" "--"] (member_access_expression name: (identifier) @name)) @ref.write
(postfix_unary_expression (identifier) @name ["++" "--"]) @ref.write
(postfix_unary_expression
  (member_access_expression name: (identifier) @name) ["++" "--"]) @ref.write

(namespace_declaration name: (qualified_name name: (identifier) @ignore))
(namespace_declaration
  name: (qualified_name qualifier: (qualified_name name: (identifier) @ignore)))
(namespace_declaration
  name: (qualified_name
    qualifier: (qualified_name qualifier: (qualified_name name: (identifier) @ignore))))
(file_scoped_namespace_declaration name: (qualified_name name: (identifier) @ignore))
(file_scoped_namespace_declaration
  name: (qualified_name qualifier: (qualified_name name: (identifier) @ignore)))
(file_scoped_namespace_declaration
  name: (qualified_name
    qualifier: (qualified_name qualifier: (qualified_name name: (identifier) @ignore))))
(argument name: (identifier) @ignore)
(attribute_argument name: (identifier) @ignore)
(tuple_element name: (identifier) @ignore)
(labeled_statement . (identifier) @ignore)
(goto_statement (identifier) @ignore)
(preproc_if condition: (_) @ignore)
(preproc_elif condition: (_) @ignore)
(preproc_if_in_attribute_list condition: (_) @ignore)
(preproc_pragma (identifier) @ignore)
(anonymous_object_creation_expression (identifier) @ignore . "=")
((variable_declaration type: (identifier) @ignore) (#any-of? @ignore "dynamic"))

((identifier) @name @ref.read)
