; C: functions, prototypes, types, macros, members and what uses them.

(function_definition
  declarator: [
    (function_declarator declarator: (identifier) @name)
    (pointer_declarator
      declarator: [
        (function_declarator declarator: (identifier) @name)
        (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))
      ])
  ]) @def.function
(declaration
  declarator: [
    (function_declarator declarator: (identifier) @name)
    (pointer_declarator
      declarator: [
        (function_declarator declarator: (identifier) @name)
        (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))
      ])
  ]) @def.prototype
(struct_specifier name: (type_identifier) @name body: (_)) @def.struct
(union_specifier name: (type_identifier) @name body: (_)) @def.union
(enum_specifier name: (type_identifier) @name body: (_)) @def.enum
(enumerator name: (identifier) @name) @def.enumerator
(type_definition
  declarator: [
    (type_identifier) @name
    (array_declarator declarator: (type_identifier) @name)
    (pointer_declarator
      declarator: [
        (type_identifier) @name
        (pointer_declarator declarator: (type_identifier) @name)
        (function_declarator
          declarator: (parenthesized_declarator
            (pointer_declarator declarator: (type_identifier) @name)))
      ])
    (function_declarator
      declarator: [
        (type_identifier) @name
        (parenthesized_declarator (pointer_declarator declarator: (type_identifier) @name))
      ])
  ]) @def.type
(preproc_def name: (identifier) @name) @def.macro
(preproc_function_def name: (identifier) @name) @def.macro
(field_declaration
  declarator: [
    (field_identifier) @name
    (array_declarator
      declarator: [
        (field_identifier) @name
        (array_declarator declarator: (field_identifier) @name)
      ])
    (pointer_declarator
      declarator: [
        (field_identifier) @name
        (array_declarator declarator: (field_identifier) @name)
        (pointer_declarator
          declarator: [
            (field_identifier) @name
            (array_declarator declarator: (field_identifier) @name)
          ])
        (function_declarator
          declarator: (parenthesized_declarator
            (pointer_declarator declarator: (field_identifier) @name)))
      ])
    (function_declarator
      declarator: (parenthesized_declarator
        (pointer_declarator
          declarator: [
            (field_identifier) @name
            (array_declarator declarator: (field_identifier) @name)
          ])))
  ]) @def.field
(declaration
  declarator: [
    (identifier) @name
    (array_declarator
      declarator: [
        (identifier) @name
        (array_declarator declarator: (identifier) @name)
      ])
    (pointer_declarator
      declarator: [
        (identifier) @name
        (array_declarator declarator: (identifier) @name)
        (pointer_declarator
          declarator: [
            (identifier) @name
            (array_declarator declarator: (identifier) @name)
          ])
        (function_declarator
          declarator: (parenthesized_declarator
            (pointer_declarator declarator: (identifier) @name)))
      ])
    (function_declarator
      declarator: (parenthesized_declarator
        (pointer_declarator
          declarator: [
            (identifier) @name
            (array_declarator declarator: (identifier) @name)
          ])))
  ]) @def.variable
(declaration
  declarator: (init_declarator
    declarator: [
      (identifier) @name
      (array_declarator
        declarator: [
          (identifier) @name
          (array_declarator declarator: (identifier) @name)
        ])
      (pointer_declarator
        declarator: [
          (identifier) @name
          (array_declarator declarator: (identifier) @name)
          (pointer_declarator
            declarator: [
              (identifier) @name
              (array_declarator declarator: (identifier) @name)
            ])
          (function_declarator
            declarator: (parenthesized_declarator
              (pointer_declarator declarator: (identifier) @name)))
        ])
      (function_declarator
        declarator: (parenthesized_declarator
          (pointer_declarator
            declarator: [
              (identifier) @name
              (array_declarator declarator: (identifier) @name)
            ])))
    ])) @def.variable

(parameter_declaration declarator: (identifier) @local)
(pointer_declarator declarator: (identifier) @local)
(array_declarator declarator: (identifier) @local)
(parenthesized_declarator (identifier) @local)
(preproc_params (identifier) @local)

(preproc_include path: (_) @import)

(attribute_specifier (argument_list (identifier) @ignore))
(attribute_specifier (argument_list (call_expression function: (identifier) @ignore)))
(attribute_specifier
  (argument_list (call_expression arguments: (argument_list (identifier) @ignore))))
(attribute name: (identifier) @ignore)
(call_expression function: (identifier) @name) @ref.call
(call_expression function: (field_expression field: (field_identifier) @name)) @ref.call
(call_expression
  function: (parenthesized_expression
    (pointer_expression
      argument: [
        (identifier) @name
        (field_expression field: (field_identifier) @name)
      ]))) @ref.call
(assignment_expression left: (identifier) @name) @ref.write
(assignment_expression left: (field_expression field: (field_identifier) @name)) @ref.write
(update_expression argument: (identifier) @name) @ref.write
(update_expression argument: (field_expression field: (field_identifier) @name)) @ref.write
(initializer_pair designator: (field_designator (field_identifier) @name)) @ref.write
(field_expression field: (field_identifier) @name) @ref.read
(offsetof_expression member: (field_identifier) @name.field) @ref.read
((type_identifier) @name.type @ref.read)
((identifier) @name @ref.read)
