; OCaml: values, types, modules, classes and what uses them. Types, fields and constructors have
; names apart from those of values: no local value hides them. Functions in a value are local to
; it. Operators are functions; of the uses those of the commonest ones are left out.

(compilation_unit
  (value_definition (let_binding pattern: (value_name) @name (parameter)) @def.function))
(structure (value_definition (let_binding pattern: (value_name) @name (parameter)) @def.function))
(compilation_unit
  (value_definition
    (let_binding
      pattern: (value_name) @name body: [(fun_expression) (function_expression)]) @def.function))
(structure
  (value_definition
    (let_binding
      pattern: (value_name) @name body: [(fun_expression) (function_expression)]) @def.function))
(compilation_unit (value_definition (let_binding pattern: (value_name) @name) @def.variable))
(structure (value_definition (let_binding pattern: (value_name) @name) @def.variable))
(compilation_unit
  (value_definition
    (let_binding pattern: (parenthesized_operator (_) @name)) @def.function))
(structure
  (value_definition
    (let_binding pattern: (parenthesized_operator (_) @name)) @def.function))
(compilation_unit
  (value_definition
    (let_binding pattern: [
      (tuple_pattern (value_name) @name @def.variable)
      (parenthesized_pattern (tuple_pattern (value_name) @name @def.variable))
    ])))
(structure
  (value_definition
    (let_binding pattern: [
      (tuple_pattern (value_name) @name @def.variable)
      (parenthesized_pattern (tuple_pattern (value_name) @name @def.variable))
    ])))
(external (value_name) @name) @def.function
(value_specification (value_name) @name) @def.prototype
(value_specification (parenthesized_operator (_) @name)) @def.prototype
(exception_definition (constructor_declaration (constructor_name) @name)) @def.type
(type_binding name: (type_constructor) @name) @def.type
(constructor_declaration (constructor_name) @name) @def.enumerator
(field_declaration (field_name) @name) @def.field
(module_binding (module_name) @name module_type: (signature) @body) @def.module
(module_binding (module_name) @name) @def.module
(module_type_definition (module_type_name) @name) @def.interface
(class_binding (class_name) @name) @def.class
(class_type_binding (class_type_name) @name) @def.interface
(method_definition (method_name) @name) @def.method
(method_specification (method_name) @name) @def.method
(instance_variable_definition (instance_variable_name) @name) @def.field
(instance_variable_specification (instance_variable_name) @name) @def.field

; Of a structure behind a signature, only what that names is seen.
(module_binding module_type: (signature) body: (structure "struct" @access))

(compilation_unit (value_definition (let_binding pattern: (unit))) @region)
(structure (value_definition (let_binding pattern: (unit))) @region)
(compilation_unit (expression_item) @region)

((value_pattern) @local)
(let_expression (value_definition (let_binding pattern: (_) @local.all)))
(field_pattern (field_path (field_name) @local) !pattern)
(module_parameter (module_name) @local)

(open_module module: (module_path) @import)
(include_module module: (module_path) @import)

(inheritance_definition class: (class_path (class_name) @name)) @ref.implementation
(inheritance_definition
  class: (class_application class: (class_path (class_name) @name))) @ref.implementation
(inheritance_specification
  class_type: (class_type_path (class_type_name) @name)) @ref.implementation
(method_definition "!" (method_name) @name) @ref.override
(new_expression (class_path (class_name) @name)) @ref.instantiate
(application_expression function: (value_path (value_name) @name)) @ref.call
(method_invocation method: (method_name) @name) @ref.call
(value_definition (let_operator) @name) @ref.call
((infix_expression operator: (_) @name) @ref.call
  (#not-any-of? @name "+" "-" "*" "/" "+." "-." "*." "/." "=" "<>" "==" "!=" "<" ">" "<=" ">=" "&&"
    "||" "^" "@" ":=" "|>" "@@" "mod" "land" "lor" "lsl" "lsr"))
(set_expression (instance_variable_name) @name) @ref.write
(set_expression (field_get_expression field: (field_path (field_name) @name.member))) @ref.write
(field_expression (field_path (field_name) @name.member)) @ref.write
(field_pattern (field_path (field_name) @name.member)) @ref.read
(field_get_expression field: (field_path (field_name) @name.member)) @ref.read
(value_path (value_name) @name) @ref.read
(value_path (parenthesized_operator (_) @name)) @ref.read
(module_path (module_name) @name) @ref.read
(extended_module_path (module_name) @name) @ref.read
(module_type_path (module_type_name) @name.member) @ref.read
(constructor_path (constructor_name) @name.member) @ref.read
(type_constructor_path (type_constructor) @name.member) @ref.read
