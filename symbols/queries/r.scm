; R: functions, variables of the script, classes with their methods, and what uses them.

(binary_operator
  lhs: (identifier) @name
  operator: ["<-" "=" "<<-"]
  rhs: (function_definition body: (_) @body)) @def.function
((call
  function: (identifier) @verb
  arguments: (arguments . (argument value: (string content: (string_content) @name)))) @def.class
  (#any-of? @verb "setClass" "setRefClass" "R6Class"))
((call
  function: (identifier) @verb
  arguments: (arguments . (argument value: (string content: (string_content) @name))))
  @def.function
  (#any-of? @verb "setGeneric"))
((call
  function: (identifier) @verb
  arguments: (arguments
    . (argument value: (string content: (string_content) @name))
    . (comma)
    . (argument value: (string content: (string_content) @container)))) @def.method
  (#any-of? @verb "setMethod"))
(program (binary_operator lhs: (identifier) @name operator: ["<-" "=" "<<-"]) @def.variable)

(parameter name: (identifier) @local)
(binary_operator lhs: (identifier) @local operator: ["<-" "="])
(for_statement variable: (identifier) @local)

((call
  function: (identifier) @verb
  arguments: (arguments . (argument value: [
    (identifier) @import
    (string content: (string_content) @import)
  ])))
  (#any-of? @verb "library" "require" "source" "requireNamespace" "loadNamespace"))

((call
  function: (identifier) @verb
  arguments: (arguments . (argument value: (string content: (string_content) @name))))
  @ref.override
  (#any-of? @verb "setMethod"))
((call
  function: (identifier) @verb
  arguments: (arguments . (argument value: (string content: (string_content) @name))))
  @ref.instantiate
  (#any-of? @verb "new"))
((call
  function: (identifier) @verb
  arguments: (arguments
    (argument name: (identifier) @word value: (string content: (string_content) @name))))
  @ref.implementation
  (#any-of? @verb "setClass" "setRefClass")
  (#any-of? @word "contains"))
((call
  function: (identifier) @verb
  arguments: (arguments (argument name: (identifier) @word value: (identifier) @name)))
  @ref.implementation
  (#any-of? @verb "R6Class")
  (#any-of? @word "inherit"))
(call function: (identifier) @name) @ref.call
(call function: (namespace_operator rhs: (identifier) @name)) @ref.call
(call function: (extract_operator rhs: (identifier) @name)) @ref.call
(binary_operator lhs: (identifier) @name operator: "<<-") @ref.write
(binary_operator
  lhs: (extract_operator rhs: (identifier) @name) operator: ["<-" "=" "<<-"]) @ref.write
(namespace_operator lhs: (identifier) @name) @ref.read
(extract_operator rhs: (identifier) @name) @ref.read
(extract_operator lhs: (identifier) @name) @ref.read
(argument value: (identifier) @name) @ref.read
(braced_expression body: (identifier) @name) @ref.read
(binary_operator (identifier) @name) @ref.read
