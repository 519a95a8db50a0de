; Bash: functions, variables of the script and what uses them. A variable that a function does not
; declare is one of the script.

(function_definition name: (word) @name) @def.function
(program
  (declaration_command
    "readonly" (variable_assignment name: (variable_name) @name)) @def.constant)
((program
  (declaration_command
    (word) @word (variable_assignment name: (variable_name) @name)) @def.constant)
  (#any-of? @word
    "-r" "-ra" "-ar" "-rA" "-Ar" "-rg" "-gr" "-ri" "-ir" "-rx" "-xr" "-rl" "-lr" "-ru" "-ur"))
(program (variable_assignment name: (variable_name) @name) @def.variable)
(program (variable_assignments (variable_assignment name: (variable_name) @name) @def.variable))
(program
  (declaration_command (variable_assignment name: (variable_name) @name)) @def.variable)
(program (declaration_command ["declare" "typeset"] (variable_name) @name) @def.variable)

(declaration_command
  ["local" "declare" "typeset"] (variable_assignment name: (variable_name) @local))
(declaration_command ["local" "declare" "typeset"] (variable_name) @local)

((command name: (command_name (word) @verb) . argument: (_) @import)
  (#any-of? @verb "source" "."))

(command name: (command_name (word) @name)) @ref.call
(variable_assignment name: (variable_name) @name) @ref.write
(variable_assignment name: (subscript name: (variable_name) @name)) @ref.write
(for_statement variable: (variable_name) @name) @ref.write
(postfix_expression (variable_name) @name) @ref.write
(unset_command (variable_name) @name) @ref.write
((variable_name) @name @ref.read)
