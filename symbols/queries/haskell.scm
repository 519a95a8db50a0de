; Haskell: types, classes, functions of the module and what uses them.

(header module: (module) @name) @def.module
(data_type name: (name) @name) @def.type
(newtype name: (name) @name) @def.type
(type_synomym name: (name) @name) @def.type
(class name: (name) @name) @def.trait
(data_constructor constructor: (_ name: (constructor) @name)) @def.enumerator
(newtype_constructor name: (constructor) @name) @def.enumerator
(field name: (field_name (variable) @name)) @def.field
(declarations (signature name: (variable) @name) @def.function)
(class_declarations (signature name: (variable) @name) @def.method)
(declarations (function name: (variable) @name match: (_) @body) @def.function)
(class_declarations (function name: (variable) @name match: (_) @body) @def.method)
(instance_declarations (function name: (variable) @name match: (_) @body) @def.method)
(instance_declarations (bind name: (variable) @name match: (_) @body) @def.method)
(declarations (bind name: (variable) @name match: (_) @body) @def.function)
(instance patterns: (type_patterns . (name) @name)) @scope
(instance patterns: (type_patterns . (parens (apply constructor: (name) @name)))) @scope

(patterns (variable) @local)
(patterns (_ (variable) @local))
(patterns (parens (apply argument: (variable) @local)))
(patterns (parens (apply function: (apply argument: (variable) @local))))
(patterns (parens (infix (variable) @local)))
(local_binds (function name: (variable) @local))
(local_binds (bind name: (variable) @local))
(bind pattern: (variable) @local)
(generator . (variable) @local)

(import module: (module) @import)

(instance_declarations (function name: (variable) @name)) @ref.override
(instance_declarations (bind name: (variable) @name)) @ref.override
(instance name: (name) @name) @ref.implementation
(deriving classes: (name) @name) @ref.implementation
(apply function: (variable) @name) @ref.call
(apply function: (qualified id: (variable) @name)) @ref.call
(apply function: (_) argument: (variable) @name) @ref.read
(apply function: (_) argument: (qualified id: (variable) @name)) @ref.read
(match expression: (variable) @name) @ref.read
(infix left_operand: (variable) @name) @ref.read
(infix right_operand: (variable) @name) @ref.read
(field_update field: (field_name (variable) @name)) @ref.write
(export variable: (variable) @name) @ref.read
((constructor) @name @ref.read)
((name) @name @ref.read)
