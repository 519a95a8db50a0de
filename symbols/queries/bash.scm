; Bash: functions, variables of the script and what uses them.

(function_definition name: (word) @name) @def.function
(program (variable_assignment name: (variable_name) @name) @def.variable)
(program
  (declaration_command (variable_assignment name: (variable_name) @name)) @def.variable)

(declaration_command (variable_assignment name: (variable_name) @local))
(declaration_command (variable_name) @local)

((command name: (command_name (word) @verb) . argument: (_) @import)
  (#any-of? @verb "source" "."))

(command name: (command_name (word) @name)) @ref.call
(variable_assignment name: (variable_name) @name) @ref.write
(simple_expansion (variable_name) @name) @ref.read
(expansion (variable_name) @name) @ref.read
