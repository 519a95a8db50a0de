; Ruby: modules, classes, methods, constants and what uses them.

((method name: (identifier) @name) @def.constructor (#any-of? @name "initialize"))
(method name: (_) @name) @def.function
(singleton_method name: (_) @name) @def.function
(alias name: (identifier) @name) @def.function
(class name: (constant) @name) @def.class
(class name: (scope_resolution name: (constant) @name)) @def.class
(module name: (constant) @name) @def.module
(module name: (scope_resolution name: (constant) @name)) @def.module
(assignment left: (constant) @name) @def.constant
(operator_assignment left: (constant) @name) @def.constant
((call method: (identifier) @verb arguments: (argument_list (simple_symbol) @name)) @def.field
  (#any-of? @verb "attr_reader" "attr_writer" "attr_accessor"))

(singleton_class) @region
(block) @region
(do_block) @region
(lambda) @region
(assignment left: (identifier) @local)
(operator_assignment left: (identifier) @local)
(left_assignment_list (identifier) @local)
(rest_assignment (identifier) @local)
(destructured_left_assignment (identifier) @local)
(for pattern: (identifier) @local)
(exception_variable (identifier) @local)
(method_parameters (identifier) @local)
(block_parameters (identifier) @local)
(lambda_parameters (identifier) @local)
(destructured_parameter (identifier) @local)
(optional_parameter name: (identifier) @local)
(keyword_parameter name: (identifier) @local)
(splat_parameter name: (identifier) @local)
(hash_splat_parameter name: (identifier) @local)
(block_parameter name: (identifier) @local)
(match_pattern pattern: (identifier) @local)
(in_clause pattern: (identifier) @local)
(array_pattern (identifier) @local)
(as_pattern name: (identifier) @local)
(keyword_pattern value: (identifier) @local)

((body_statement (identifier) @access) (#any-of? @access "public" "protected" "private"))
((call method: (identifier) @verb arguments: (argument_list (simple_symbol) @private))
  (#any-of? @verb "private" "private_class_method" "private_constant"))
((call method: (identifier) @verb arguments: (argument_list (method name: (_) @private)))
  (#any-of? @verb "private"))
((call
  method: (identifier) @verb arguments: (argument_list (singleton_method name: (_) @private)))
  (#any-of? @verb "private_class_method"))
((call
  method: (identifier) @verb
  arguments: (argument_list (call arguments: (argument_list (simple_symbol) @private))))
  (#any-of? @verb "private"))
((call method: (identifier) @verb arguments: (argument_list (simple_symbol) @protected))
  (#any-of? @verb "protected"))
((call method: (identifier) @verb arguments: (argument_list (method name: (_) @protected)))
  (#any-of? @verb "protected"))
((call method: (identifier) @verb arguments: (argument_list (simple_symbol) @public))
  (#any-of? @verb "public"))
((call method: (identifier) @ignore)
  (#any-of? @ignore
    "attr_reader" "attr_writer" "attr_accessor" "public" "protected" "private"
    "private_class_method" "private_constant"))

((call
  method: (identifier) @verb arguments: (argument_list . (string (string_content) @import)))
  (#any-of? @verb "require" "require_relative" "load"))

(superclass (constant) @name) @ref.implementation
(superclass (scope_resolution name: (constant) @name)) @ref.implementation
((call method: (identifier) @verb arguments: (argument_list (constant) @name)) @ref.implementation
  (#any-of? @verb "include" "extend" "prepend"))
((call
  method: (identifier) @verb
  arguments: (argument_list (scope_resolution name: (constant) @name))) @ref.implementation
  (#any-of? @verb "include" "extend" "prepend"))
((call receiver: (constant) @name method: (identifier) @verb) @ref.instantiate
  (#any-of? @verb "new"))
((call receiver: (scope_resolution name: (constant) @name) method: (identifier) @verb)
  @ref.instantiate
  (#any-of? @verb "new"))
((call receiver: (constant) method: (identifier) @ignore) (#any-of? @ignore "new"))
((call receiver: (scope_resolution) method: (identifier) @ignore) (#any-of? @ignore "new"))
(assignment left: (call method: (identifier) @name)) @ref.write
(operator_assignment left: (call method: (identifier) @name)) @ref.write
(left_assignment_list (call method: (identifier) @name)) @ref.write
(assignment left: (instance_variable) @name) @ref.write
(assignment left: (class_variable) @name) @ref.write
(assignment left: (global_variable) @name) @ref.write
(operator_assignment left: (instance_variable) @name) @ref.write
(operator_assignment left: (class_variable) @name) @ref.write
(operator_assignment left: (global_variable) @name) @ref.write
(left_assignment_list (instance_variable) @name) @ref.write
(left_assignment_list (class_variable) @name) @ref.write
(left_assignment_list (global_variable) @name) @ref.write
(call method: (identifier) @name) @ref.call
(alias alias: (identifier) @name) @ref.read
(undef (identifier) @ignore)
((identifier) @ignore (#any-of? @ignore "__FILE__" "__LINE__" "__ENCODING__"))

((super) @name @ref.call)
((identifier) @name @ref.call)
((constant) @name @ref.read)
((instance_variable) @name @ref.read)
((class_variable) @name @ref.read)
((global_variable) @name @ref.read)
