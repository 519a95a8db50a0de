; Lua: functions, variables of the file and what uses them. Functions that are put in a table are its
; methods; other fields of a table are written, not defined.

(function_declaration name: (identifier) @name) @def.function
(function_declaration
  name: (dot_index_expression table: (_) @container field: (identifier) @name)) @def.function
(function_declaration
  name: (method_index_expression table: (_) @container method: (identifier) @name)) @def.method
(variable_declaration (assignment_statement
  (variable_list . name: (identifier) @name .)
  (expression_list . value: (function_definition body: (_) @body) .))) @def.function
(variable_declaration (assignment_statement
  (variable_list . name: (identifier) @name .)
  (expression_list . value: (function_definition) .))) @def.function
(assignment_statement
  (variable_list . name: (identifier) @name .)
  (expression_list . value: (function_definition body: (_) @body) .)) @def.function
(assignment_statement
  (variable_list . name: (identifier) @name .)
  (expression_list . value: (function_definition) .)) @def.function
(assignment_statement
  (variable_list . name: (dot_index_expression table: (_) @container field: (identifier) @name) .)
  (expression_list . value: (function_definition body: (_) @body) .)) @def.method
(assignment_statement
  (variable_list . name: (dot_index_expression table: (_) @container field: (identifier) @name) .)
  (expression_list . value: (function_definition) .)) @def.method
(assignment_statement (expression_list value: (table_constructor (field
  name: (identifier) @name value: (function_definition body: (_) @body)) @def.method)))
(chunk (return_statement (expression_list (table_constructor (field
  name: (identifier) @name value: (function_definition body: (_) @body)) @def.method))))
((chunk (variable_declaration (assignment_statement
  (variable_list name: (identifier) @name attribute: (attribute (identifier) @word))))
  @def.constant)
  (#any-of? @word "const"))
(chunk (variable_declaration
  (assignment_statement (variable_list name: (identifier) @name))) @def.variable)
(chunk (variable_declaration (variable_list name: (identifier) @name)) @def.variable)
(chunk (assignment_statement (variable_list name: (identifier) @name)) @def.variable)

((function_definition) @region)
(chunk (do_statement) @region)
(chunk (for_statement) @region)
(chunk (if_statement) @region)
(chunk (repeat_statement) @region)
(chunk (while_statement) @region)
(parameters name: (identifier) @local)
(variable_declaration (assignment_statement (variable_list name: (identifier) @local)))
(variable_declaration (variable_list name: (identifier) @local))
(for_generic_clause (variable_list name: (identifier) @local))
(for_numeric_clause name: (identifier) @local)

((function_call
  name: (identifier) @verb arguments: (arguments (string content: (string_content) @import)))
  (#any-of? @verb "require" "dofile" "loadfile"))

; The tables in the name of a function are its container.
(function_declaration name: (dot_index_expression table: (identifier) @ignore))
(function_declaration
  name: (dot_index_expression table: (dot_index_expression table: (identifier) @ignore)))
(function_declaration
  name: (dot_index_expression table: (dot_index_expression field: (identifier) @ignore)))
(function_declaration name: (method_index_expression table: (identifier) @ignore))
(function_declaration
  name: (method_index_expression table: (dot_index_expression table: (identifier) @ignore)))
(function_declaration
  name: (method_index_expression table: (dot_index_expression field: (identifier) @ignore)))
(attribute (identifier) @ignore)
(field name: (identifier) @ignore)
(goto_statement (identifier) @ignore)
(label_statement (identifier) @ignore)

(function_call name: (identifier) @name) @ref.call
(function_call name: (dot_index_expression field: (identifier) @name)) @ref.call
(function_call name: (method_index_expression method: (identifier) @name)) @ref.call
(assignment_statement (variable_list name: (identifier) @name)) @ref.write
(assignment_statement
  (variable_list name: (dot_index_expression field: (identifier) @name))) @ref.write
((identifier) @name @ref.read)
