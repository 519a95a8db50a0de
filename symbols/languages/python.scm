; Python: functions, classes, module variables and what uses them.

((function_definition name: (identifier) @name) @def.constructor (#any-of? @name "__init__"))
(function_definition name: (identifier) @name) @def.function
(class_definition name: (identifier) @name) @def.class
(type_alias_statement left: (type (identifier) @name)) @def.type
(module (expression_statement (assignment left: (identifier) @name) @def.variable))
(module (expression_statement (assignment left: (pattern_list (identifier) @name)) @def.variable))
(module
  (if_statement
    consequence: (block (expression_statement (assignment left: (identifier) @name) @def.variable))))
(module
  (if_statement
    alternative: (else_clause
      body: (block
        (expression_statement (assignment left: (identifier) @name) @def.variable)))))
(module
  (try_statement
    body: (block (expression_statement (assignment left: (identifier) @name) @def.variable))))
(module
  (try_statement
    (except_clause
      (block (expression_statement (assignment left: (identifier) @name) @def.variable)))))
(class_definition
  body: (block (expression_statement (assignment left: (identifier) @name) @def.field)))
((assignment
  left: (attribute object: (identifier) @word attribute: (identifier) @name)) @def.field
  (#any-of? @word "self"))
(class_definition
  body: (block
    (expression_statement (assignment left: (pattern_list (identifier) @name)) @def.field)))

(lambda) @region
(list_comprehension) @region
(set_comprehension) @region
(dictionary_comprehension) @region
(generator_expression) @region
(class_definition type_parameters: (type_parameter (type (identifier) @local)))
(function_definition type_parameters: (type_parameter (type (identifier) @local)))
(parameters (identifier) @local)
(typed_parameter (identifier) @local)
(default_parameter name: (identifier) @local)
(typed_default_parameter name: (identifier) @local)
(lambda_parameters (identifier) @local)
(list_splat_pattern (identifier) @local)
(dictionary_splat_pattern (identifier) @local)
(pattern_list (identifier) @local)
(tuple_pattern (identifier) @local)
(list_pattern (identifier) @local)
(assignment left: (identifier) @local)
(named_expression name: (identifier) @local)
(for_statement left: (identifier) @local)
(for_in_clause left: (identifier) @local)
(as_pattern_target (identifier) @local)
(case_pattern (dotted_name . (identifier) @local .))
(keyword_pattern (dotted_name . (identifier) @local .))
(case_pattern (as_pattern (identifier) @local))
(splat_pattern (identifier) @local)
(global_statement (identifier) @outer)
(global_statement (identifier) @ignore)

(import_statement name: (dotted_name) @import)
(import_statement name: (aliased_import name: (dotted_name) @import))
(import_from_statement module_name: (_) @import)
(future_import_statement "__future__" @import)

(import_from_statement
  module_name: (_) @container name: (dotted_name (identifier) @name)) @ref.read
(import_from_statement
  module_name: (_) @container
  name: (aliased_import name: (dotted_name (identifier) @name))) @ref.read
((decorated_definition
  (decorator (identifier) @verb) definition: (function_definition name: (identifier) @name))
  @ref.override
  (#any-of? @verb "override"))
((decorated_definition
  (decorator (attribute attribute: (identifier) @verb))
  definition: (function_definition name: (identifier) @name)) @ref.override
  (#any-of? @verb "override"))
(class_definition superclasses: (argument_list (identifier) @name)) @ref.implementation
(class_definition
  superclasses: (argument_list (attribute attribute: (identifier) @name))) @ref.implementation
(class_definition
  superclasses: (argument_list (subscript value: (identifier) @name))) @ref.implementation
(class_definition
  superclasses: (argument_list
    (subscript value: (attribute attribute: (identifier) @name)))) @ref.implementation
(call function: (identifier) @name) @ref.call
(call function: (attribute attribute: (identifier) @name)) @ref.call
(decorator (identifier) @name) @ref.call
(decorator (attribute attribute: (identifier) @name)) @ref.call
(assignment left: (identifier) @name) @ref.write
(assignment left: (attribute attribute: (identifier) @name)) @ref.write
(pattern_list (identifier) @name) @ref.write
(tuple_pattern (identifier) @name) @ref.write
(pattern_list (attribute attribute: (identifier) @name)) @ref.write
(tuple_pattern (attribute attribute: (identifier) @name)) @ref.write
(augmented_assignment left: (identifier) @name) @ref.write
(augmented_assignment left: (attribute attribute: (identifier) @name)) @ref.write
(for_statement left: (identifier) @name) @ref.write

(future_import_statement name: (dotted_name (identifier) @ignore))
(import_statement name: (aliased_import name: (dotted_name (identifier) @ignore)))
(aliased_import alias: (identifier) @ignore)
(keyword_argument name: (identifier) @ignore)
(keyword_pattern . (identifier) @ignore)

((identifier) @name @ref.read)
