; Lua: functions, variables of the file and what uses them.

(function_declaration name: (identifier) @name) @def.function
(function_declaration
  name: (dot_index_expression table: (_) @container field: (identifier) @name)) @def.function
(function_declaration
  name: (method_index_expression table: (_) @container method: (identifier) @name)) @def.method
(assignment_statement
  (variable_list name: (identifier) @name)
  (expression_list value: (function_definition))) @def.function
(chunk (variable_declaration
  (assignment_statement (variable_list name: (identifier) @name))) @def.variable)
(chunk (assignment_statement (variable_list name: (identifier) @name)) @def.variable)

(parameters name: (identifier) @local)
(variable_declaration (assignment_statement (variable_list name: (identifier) @local)))

((function_call
  name: (identifier) @verb arguments: (arguments (string content: (string_content) @import)))
  (#any-of? @verb "require" "dofile" "loadfile"))

(function_call name: (identifier) @name) @ref.call
(function_call name: (dot_index_expression field: (identifier) @name)) @ref.call
(function_call name: (method_index_expression method: (identifier) @name)) @ref.call
(assignment_statement
  (variable_list name: (dot_index_expression field: (identifier) @name))) @ref.write
(dot_index_expression field: (identifier) @name) @ref.read
(arguments (identifier) @name) @ref.read
