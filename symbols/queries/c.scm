; C: functions, prototypes, types, macros, members and what uses them.

(function_definition declarator: (function_declarator declarator: (identifier) @name)) @def.function
(function_definition
  declarator: (pointer_declarator
    declarator: (function_declarator declarator: (identifier) @name))) @def.function
(function_definition
  declarator: (pointer_declarator
    declarator: (pointer_declarator
      declarator: (function_declarator declarator: (identifier) @name)))) @def.function
(declaration declarator: (function_declarator declarator: (identifier) @name)) @def.prototype
(declaration
  declarator: (pointer_declarator
    declarator: (function_declarator declarator: (identifier) @name))) @def.prototype
(struct_specifier name: (type_identifier) @name body: (_)) @def.struct
(union_specifier name: (type_identifier) @name body: (_)) @def.union
(enum_specifier name: (type_identifier) @name body: (_)) @def.enum
(enumerator name: (identifier) @name) @def.enumerator
(type_definition declarator: (type_identifier) @name) @def.type
(type_definition
  declarator: (pointer_declarator declarator: (type_identifier) @name)) @def.type
(type_definition
  declarator: (function_declarator
    declarator: (parenthesized_declarator
      (pointer_declarator declarator: (type_identifier) @name)))) @def.type
(preproc_def name: (identifier) @name) @def.macro
(preproc_function_def name: (identifier) @name) @def.macro
(field_declaration declarator: (field_identifier) @name) @def.field
(field_declaration
  declarator: (pointer_declarator declarator: (field_identifier) @name)) @def.field
(field_declaration
  declarator: (array_declarator declarator: (field_identifier) @name)) @def.field
(declaration declarator: (identifier) @name) @def.variable
(declaration declarator: (array_declarator declarator: (identifier) @name)) @def.variable
(declaration declarator: (pointer_declarator declarator: (identifier) @name)) @def.variable
(declaration declarator: (init_declarator declarator: (identifier) @name)) @def.variable
(declaration
  declarator: (init_declarator
    declarator: (pointer_declarator declarator: (identifier) @name))) @def.variable
(declaration
  declarator: (init_declarator
    declarator: (array_declarator declarator: (identifier) @name))) @def.variable

(parameter_declaration declarator: (identifier) @local)
(parameter_declaration declarator: (pointer_declarator declarator: (identifier) @local))
(parameter_declaration
  declarator: (pointer_declarator
    declarator: (pointer_declarator declarator: (identifier) @local)))
(parameter_declaration declarator: (array_declarator declarator: (identifier) @local))

(preproc_include path: (_) @import)

(call_expression function: (identifier) @name) @ref.call
(call_expression function: (field_expression field: (field_identifier) @name)) @ref.call
(assignment_expression left: (identifier) @name) @ref.write
(assignment_expression left: (field_expression field: (field_identifier) @name)) @ref.write
(update_expression argument: (identifier) @name) @ref.write
(field_expression field: (field_identifier) @name) @ref.read
(argument_list (identifier) @name) @ref.read
(argument_list (pointer_expression argument: (identifier) @name)) @ref.read
(init_declarator value: (identifier) @name) @ref.read
(initializer_list (identifier) @name) @ref.read
(initializer_pair value: (identifier) @name) @ref.read
(return_statement (identifier) @name) @ref.read
(binary_expression (identifier) @name) @ref.read
(case_statement value: (identifier) @name) @ref.read
(conditional_expression (identifier) @name) @ref.read
((type_identifier) @name @ref.read)
