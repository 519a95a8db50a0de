; OCaml's interfaces: what a module promises.

(value_specification (value_name) @name) @def.prototype
(value_specification (parenthesized_operator (_) @name)) @def.prototype
(external (value_name) @name) @def.prototype
(exception_definition (constructor_declaration (constructor_name) @name)) @def.type
(type_binding name: (type_constructor) @name) @def.type
(constructor_declaration (constructor_name) @name) @def.enumerator
(field_declaration (field_name) @name) @def.field
(module_binding (module_name) @name module_type: (signature) @body) @def.module
(module_binding (module_name) @name) @def.module
(module_type_definition (module_type_name) @name) @def.interface
(class_binding
  (class_name) @name
  class_type: (class_function_type codomain: (class_body_type) @body)) @def.class
(class_binding (class_name) @name class_type: (class_body_type) @body) @def.class
(class_binding (class_name) @name) @def.class
(class_type_binding (class_type_name) @name) @def.interface
(method_specification (method_name) @name) @def.method
(instance_variable_specification (instance_variable_name) @name) @def.field

(module_parameter (module_name) @local)

(open_module module: (module_path) @import)
(include_module_type module_type: (module_type_path (extended_module_path)) @import)
(include_module_type
  module_type: (module_type_constraint
    module_type: (module_type_path (extended_module_path)) @import))
(include_module_type
  module_type: (module_type_path (extended_module_path) (module_type_name) @ignore))
(include_module_type
  module_type: (module_type_constraint
    module_type: (module_type_path (extended_module_path) (module_type_name) @ignore)))

(include_module_type
  module_type: (module_type_path (module_type_name) @name)) @ref.implementation
(inheritance_specification
  class_type: (class_type_path (class_type_name) @name)) @ref.implementation
(module_path (module_name) @name) @ref.read
(extended_module_path (module_name) @name) @ref.read
(module_type_path (module_type_name) @name.member) @ref.read
(type_constructor_path (type_constructor) @name.member) @ref.read
