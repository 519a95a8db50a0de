; OCaml: values, types, modules, classes and what uses them.

(let_binding pattern: (value_name) @name (parameter)) @def.function
(let_binding
  pattern: (value_name) @name body: [(fun_expression) (function_expression)]) @def.function
(let_binding pattern: (value_name) @name) @def.variable
(external (value_name) @name) @def.function
(value_specification (value_name) @name) @def.prototype
(exception_definition (constructor_declaration (constructor_name) @name)) @def.type
(type_binding name: (type_constructor) @name) @def.type
(constructor_declaration (constructor_name) @name) @def.enumerator
(field_declaration (field_name) @name) @def.field
(module_binding (module_name) @name) @def.module
(module_type_definition (module_type_name) @name) @def.interface
(class_binding (class_name) @name) @def.class
(method_definition (method_name) @name) @def.method
(instance_variable_definition (instance_variable_name) @name) @def.field

((value_pattern) @local)

(open_module module: (module_path) @import)
(include_module module: (module_path) @import)

(inheritance_definition class: (class_path (class_name) @name)) @ref.implementation
(method_definition "!" (method_name) @name) @ref.override
(new_expression (class_path (class_name) @name)) @ref.instantiate
(application_expression function: (value_path (value_name) @name)) @ref.call
(method_invocation method: (method_name) @name) @ref.call
(set_expression (instance_variable_name) @name) @ref.write
(set_expression (field_get_expression field: (field_path (field_name) @name))) @ref.write
(field_expression (field_path (field_name) @name)) @ref.write
(field_get_expression field: (field_path (field_name) @name)) @ref.read
(value_path (value_name) @name) @ref.read
(module_path (module_name) @name) @ref.read
(constructor_path (constructor_name) @name) @ref.read
(type_constructor_path (type_constructor) @name) @ref.read
