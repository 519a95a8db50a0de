; OCaml's interfaces: what a module promises.

(value_specification (value_name) @name) @def.prototype
(external (value_name) @name) @def.prototype
(exception_definition (constructor_declaration (constructor_name) @name)) @def.type
(type_binding name: (type_constructor) @name) @def.type
(constructor_declaration (constructor_name) @name) @def.enumerator
(field_declaration (field_name) @name) @def.field
(module_binding (module_name) @name module_type: (_) @body) @def.module
(module_type_definition (module_type_name) @name) @def.interface

(open_module module: (module_path) @import)
(include_module_type (module_type_path (extended_module_path) @import))

(module_path (module_name) @name) @ref.read
(extended_module_path (module_name) @name) @ref.read
(type_constructor_path (type_constructor) @name) @ref.read
