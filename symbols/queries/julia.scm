; Julia: functions, types, modules, macros, constants and what uses them.

(module_definition name: (identifier) @name) @def.module
(function_definition (signature (call_expression . (identifier) @name))) @def.function
(function_definition
  (signature (typed_expression . (call_expression . (identifier) @name)))) @def.function
(function_definition
  (signature (where_expression . (call_expression . (identifier) @name)))) @def.function
(function_definition
  (signature
    (call_expression . (field_expression value: (_) @container (identifier) @name .))))
  @def.function
(assignment . (call_expression . (identifier) @name) (operator) . (_) @body) @def.function
(assignment
  . (where_expression . (call_expression . (identifier) @name)) (operator) . (_) @body)
  @def.function
(macro_definition (signature (call_expression . (identifier) @name))) @def.macro
(struct_definition (type_head (identifier) @name)) @def.struct
(struct_definition (type_head (binary_expression . (identifier) @name))) @def.struct
(struct_definition
  (type_head (parametrized_type_expression . (identifier) @name))) @def.struct
(struct_definition
  (type_head
    (binary_expression . (parametrized_type_expression . (identifier) @name)))) @def.struct
(abstract_definition (type_head (identifier) @name)) @def.type
(abstract_definition (type_head (binary_expression . (identifier) @name))) @def.type
(struct_definition (identifier) @name @def.field)
(struct_definition (typed_expression . (identifier) @name) @def.field)
(const_statement (assignment . (identifier) @name)) @def.constant
(source_file (assignment . (identifier) @name) @def.variable)
(module_definition (assignment . (identifier) @name) @def.variable)

(signature (_ (argument_list (identifier) @local)))
(signature (_ (argument_list (typed_expression . (identifier) @local))))
(argument_list (named_argument . (identifier) @local))
(assignment . (call_expression (argument_list (identifier) @local)))
(assignment . (call_expression (argument_list (typed_expression . (identifier) @local))))
(assignment . (identifier) @local)
(for_binding . (identifier) @local)

(using_statement (identifier) @import)
(import_statement (identifier) @import)
(selected_import . (identifier) @import)
((call_expression . (identifier) @verb (argument_list . (string_literal (content) @import)))
  (#any-of? @verb "include"))

(type_head (binary_expression (identifier) @name .)) @ref.implementation
(call_expression . (identifier) @name) @ref.call
(call_expression . (field_expression (identifier) @name .)) @ref.call
(broadcast_call_expression . (identifier) @name) @ref.call
(macrocall_expression (macro_identifier (identifier) @name)) @ref.call
(assignment . (field_expression (identifier) @name .)) @ref.write
(compound_assignment_expression . (identifier) @name) @ref.write
(field_expression value: (identifier) @name) @ref.read
(field_expression (identifier) @name .) @ref.read
(typed_expression (identifier) @name .) @ref.read
(argument_list (identifier) @name) @ref.read
(binary_expression (identifier) @name) @ref.read
(return_statement (identifier) @name) @ref.read
(export_statement (identifier) @name) @ref.read
