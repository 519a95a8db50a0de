; Haskell: types, classes, functions of the module and what uses them. Constructors of data are
; labels: using one is a read, in an expression as in a pattern. Operators are functions; of the
; uses those of the commonest ones are left out.

(header module: (module) @name) @def.module
(data_type name: (name) @name constructors: (_) @body) @def.type
(data_type name: (name) @name) @def.type
(newtype name: (name) @name constructor: (_) @body) @def.type
(type_synomym name: (name) @name) @def.type
(class name: (name) @name declarations: (_) @body) @def.trait
(class name: (name) @name) @def.trait
(data_constructor constructor: (_ name: (constructor) @name)) @def.enumerator
(newtype_constructor name: (constructor) @name) @def.enumerator
(gadt_constructor name: (constructor) @name) @def.enumerator
(field name: (field_name (variable) @name)) @def.field
(declarations (signature name: [(variable) @name (prefix_id (operator) @name)]) @def.function)
(class_declarations (signature name: [(variable) @name (prefix_id (operator) @name)]) @def.method)
(declarations (function name: (variable) @name match: (_) @body) @def.function)
(declarations (function (infix operator: (operator) @name) match: (_) @body) @def.function)
(declarations
  (function (infix operator: (infix_id (variable) @name)) match: (_) @body) @def.function)
(declarations (function name: (prefix_id (operator) @name) match: (_) @body) @def.function)
(class_declarations (function name: (variable) @name match: (_) @body) @def.method)
(class_declarations (function (infix operator: (operator) @name) match: (_) @body) @def.method)
(class_declarations (bind name: (variable) @name match: (_) @body) @def.method)
(instance_declarations (function name: (variable) @name match: (_) @body) @def.method)
(instance_declarations (function (infix operator: (operator) @name) match: (_) @body) @def.method)
(instance_declarations (bind name: (variable) @name match: (_) @body) @def.method)
(instance_declarations (bind name: (prefix_id (operator) @name) match: (_) @body) @def.method)
(declarations (bind name: (variable) @name match: (_) @body) @def.function)
(declarations (bind name: (prefix_id (operator) @name) match: (_) @body) @def.function)
(instance
  patterns: (type_patterns . [
    (name) @name
    (qualified id: (name) @name)
    (parens [
      (apply constructor: [(name) @name (qualified id: (name) @name)])
      (apply constructor: (apply constructor: [(name) @name (qualified id: (name) @name)]))
      (apply
        constructor: (apply
          constructor: (apply constructor: [(name) @name (qualified id: (name) @name)])))
      (infix operator: (_) @name)
    ])
  ])) @scope
; Types without a name: what it has of the class is the class's.
(instance
  name: (name) @name
  patterns: (type_patterns . [
    (prefix_list)
    (prefix_tuple)
    (unit)
    (list)
    (tuple)
    (parens (function))
    (parens (apply constructor: (prefix_tuple)))
    (parens (apply constructor: (apply constructor: (prefix_tuple))))
  ])) @scope

(header exports: (exports) @closed)
(export variable: (variable) @export)
(export operator: (prefix_id (operator) @export))
(export type: (name) @export)
(export type: (name) @export.all children: (children element: (all_names)))
(export children: (children element: (_) @export.part))
(module_export module: (module) @export)

(patterns) @local.all
(alternative pattern: (_) @local.all)
(bind pattern: (_) @local.all)
(generator pattern: (_) @local.all)
(function (infix left_operand: (_) @local.all))
(function (infix right_operand: (_) @local.all))
(local_binds (function name: (variable) @local))
(local_binds (bind name: (variable) @local))
(local_binds (signature name: (variable) @local))

(import module: (module) @import)
(import_name type: (name) @ignore)
(import_name variable: (variable) @ignore)
(import_name children: (children element: (_) @ignore))

(signature type: (_) @ignore.all)
(field type: (_) @ignore.all)
(prefix field: (_) @ignore.all)
(newtype_constructor field: (_) @ignore.all)
(type_synomym type: (_) @ignore.all)
(context context: (_) @ignore.all)
(type_params) @ignore.all
(type_application type: (_) @ignore.all)
(gadt_constructor) @ignore.all
(type_patterns) @ignore.all

(instance_declarations (function name: (variable) @name)) @ref.override
(instance_declarations (function (infix operator: (operator) @name))) @ref.override
(instance_declarations (bind name: (variable) @name)) @ref.override
(instance_declarations (bind name: (prefix_id (operator) @name))) @ref.override
(instance name: (name) @name) @ref.implementation
(deriving classes: (name) @name) @ref.implementation
(deriving classes: (_ (name) @name)) @ref.implementation
(deriving_instance name: (name) @name) @ref.implementation
(class context: (context (apply constructor: (name) @name))) @ref.implementation
(class context: (context (_ (apply constructor: (name) @name)))) @ref.implementation
(apply function: (variable) @name) @ref.call
(apply function: (qualified id: (variable) @name)) @ref.call
(infix operator: (infix_id (variable) @name)) @ref.call
(infix operator: (infix_id (qualified id: (variable) @name))) @ref.call
((infix operator: (operator) @name) @ref.call
  (#not-any-of? @name "+" "-" "*" "/" "==" "/=" "<" ">" "<=" ">=" "&&" "||" "$" "$!" "." "++" "<>"
    "<$>" "<*>" "<$" "*>" "<*" ">>=" ">>" "=<<" "<|>" "!!" "^" "&"))
(field_update field: (field_name (variable) @name)) @ref.write
(export operator: (prefix_id (operator) @name)) @ref.read
((constructor) @name @ref.read)
((name) @name @ref.read)
((variable) @name @ref.read)
