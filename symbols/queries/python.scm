; Python: functions, classes, module variables and what uses them.

(function_definition name: (identifier) @name) @def.function
(class_definition name: (identifier) @name) @def.class
(module (expression_statement (assignment left: (identifier) @name) @def.variable))
(class_definition
  body: (block (expression_statement (assignment left: (identifier) @name) @def.field)))

(parameters (identifier) @local)
(parameters (typed_parameter (identifier) @local))
(default_parameter name: (identifier) @local)
(typed_default_parameter name: (identifier) @local)
(lambda_parameters (identifier) @local)
(assignment left: (identifier) @local)
(for_statement left: (identifier) @local)

(import_statement name: (dotted_name) @import)
(import_statement name: (aliased_import name: (dotted_name) @import))
(import_from_statement module_name: (_) @import)

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
(call function: (identifier) @name) @ref.call
(call function: (attribute attribute: (identifier) @name)) @ref.call
(decorator (identifier) @name) @ref.call
(decorator (attribute attribute: (identifier) @name)) @ref.call
(assignment left: (attribute attribute: (identifier) @name)) @ref.write
(augmented_assignment left: (identifier) @name) @ref.write
(attribute attribute: (identifier) @name) @ref.read
(attribute object: (identifier) @name) @ref.read
(argument_list (identifier) @name) @ref.read
(type (identifier) @name) @ref.read
(return_statement (identifier) @name) @ref.read
(except_clause (identifier) @name) @ref.read
