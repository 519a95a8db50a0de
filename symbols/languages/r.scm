; R: functions, variables of the script, classes of S4, R5 and R6 with what they hold, and what uses
; them. Methods of S3 are functions by their whole name. A function in a function is defined in it.

(binary_operator
  lhs: (identifier) @name
  operator: ["<-" "=" "<<-"]
  rhs: (function_definition body: (_) @body)) @def.function
((binary_operator
  lhs: (identifier) @name
  operator: ["<-" "=" "<<-"]
  rhs: (call
    function: (identifier) @verb
    arguments: (arguments . (argument) . (comma) @body))) @def.class
  (#any-of? @verb "R6Class" "setClass" "setRefClass"))
((binary_operator
  lhs: (identifier) @name
  operator: ["<-" "=" "<<-"]
  rhs: (call function: (identifier) @verb)) @def.class
  (#any-of? @verb "R6Class" "setClass" "setRefClass"))
((program
  (call
    function: (identifier) @verb
    arguments: (arguments . (argument value: (string content: (string_content) @name))))
    @def.class)
  (#any-of? @verb "setClass" "setRefClass"))
((call
  function: (identifier) @verb
  arguments: (arguments
    (argument
      name: (identifier) @word
      value: (call
        arguments: (arguments
          (argument
            name: (identifier) @name
            value: (function_definition body: (_) @body)) @def.constructor)))))
  (#any-of? @verb "R6Class" "setRefClass")
  (#any-of? @word "public" "methods")
  (#any-of? @name "initialize"))
((call
  function: (identifier) @verb
  arguments: (arguments
    (argument
      name: (identifier) @word
      value: (call
        arguments: (arguments
          (argument
            name: (identifier) @name
            value: (function_definition body: (_) @body)) @def.method)))))
  (#any-of? @verb "R6Class" "setRefClass")
  (#any-of? @word "public" "private" "active" "methods"))
((call
  function: (identifier) @verb
  arguments: (arguments
    (argument
      name: (identifier) @word
      value: (call arguments: (arguments (argument name: (identifier) @name) @def.field)))))
  (#any-of? @verb "R6Class" "setClass" "setRefClass")
  (#any-of? @word "public" "private" "fields" "slots" "representation"))
((call
  function: (identifier) @verb
  arguments: (arguments
    (argument
      value: (call
        function: (identifier) @word
        arguments: (arguments (argument name: (identifier) @name) @def.field)))))
  (#any-of? @verb "setClass")
  (#any-of? @word "representation"))
((call
  function: (identifier) @verb
  arguments: (arguments (argument name: (identifier) @access)))
  (#any-of? @verb "R6Class")
  (#any-of? @access "public" "private" "active"))
((call
  function: (identifier) @verb
  arguments: (arguments
    . (argument value: (string content: (string_content) @name))
    (argument value: (function_definition body: (_) @body)))) @def.function
  (#any-of? @verb "setGeneric"))
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
    . (argument value: [
      (string content: (string_content) @container)
      (call
        arguments: (arguments
          . (argument value: (string content: (string_content) @container))))
    ])
    (argument value: (function_definition body: (_) @body)))) @def.method
  (#any-of? @verb "setMethod"))
((call
  function: (identifier) @verb
  arguments: (arguments
    . (argument value: (string content: (string_content) @name))
    . (comma)
    . (argument value: (string content: (string_content) @container)))) @def.method
  (#any-of? @verb "setMethod"))
(binary_operator lhs: (identifier) @name operator: ["<-" "="]) @def.variable
(binary_operator operator: "->" rhs: (identifier) @name) @def.variable
(program (binary_operator lhs: (identifier) @name operator: "<<-") @def.variable)

(function_definition) @region
(argument value: (braced_expression) @region)

(parameter name: (identifier) @local)
(for_statement variable: (identifier) @local)

((call
  function: (identifier) @verb
  arguments: (arguments . (argument value: [
    (identifier) @import
    (string content: (string_content) @import)
  ])))
  (#any-of? @verb "library" "require" "source" "requireNamespace" "loadNamespace"))

((call function: (identifier) @ignore) (#any-of? @ignore "return"))
((extract_operator lhs: (identifier) @ignore) (#any-of? @ignore "self" "private" "super"))
((call function: (extract_operator rhs: (identifier) @ignore)) (#any-of? @ignore "new"))
(argument name: (identifier) @ignore)
(for_statement variable: (identifier) @ignore)

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
((call function: (extract_operator lhs: (identifier) @name rhs: (identifier) @word))
  @ref.instantiate
  (#any-of? @word "new"))
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
  lhs: [(subset function: (identifier) @name) (subset2 function: (identifier) @name)]
  operator: ["<-" "=" "<<-"]) @ref.write
(binary_operator
  lhs: (extract_operator rhs: (identifier) @name) operator: ["<-" "=" "<<-"]) @ref.write
((identifier) @name @ref.read)
