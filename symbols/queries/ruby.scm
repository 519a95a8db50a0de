; Ruby: modules, classes, methods, constants and what uses them.

(method name: (_) @name) @def.function
(singleton_method name: (_) @name) @def.function
(class name: (constant) @name) @def.class
(class name: (scope_resolution name: (constant) @name)) @def.class
(module name: (constant) @name) @def.module
(module name: (scope_resolution name: (constant) @name)) @def.module
(assignment left: (constant) @name) @def.constant

(assignment left: (identifier) @local)
(method_parameters (identifier) @local)
(method_parameters (optional_parameter name: (identifier) @local))
(method_parameters (keyword_parameter name: (identifier) @local))
(block_parameters (identifier) @local)

(body_statement (identifier) @access)

((call
  method: (identifier) @verb arguments: (argument_list . (string (string_content) @import)))
  (#any-of? @verb "require" "require_relative" "load"))

(superclass (constant) @name) @ref.implementation
(superclass (scope_resolution name: (constant) @name)) @ref.implementation
((call receiver: (constant) @name method: (identifier) @verb) @ref.instantiate
  (#any-of? @verb "new"))
(call method: (identifier) @name) @ref.call
(assignment left: (instance_variable) @name) @ref.write
(argument_list (identifier) @name) @ref.read
((constant) @name @ref.read)
