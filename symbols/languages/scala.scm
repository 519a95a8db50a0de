; Scala: types, functions, values and what uses them.

(class_definition name: (identifier) @name) @def.class
(object_definition name: (identifier) @name) @def.class
(package_object name: (identifier) @name) @def.class
(trait_definition name: (identifier) @name) @def.trait
(enum_definition name: (identifier) @name) @def.enum
(simple_enum_case name: (identifier) @name) @def.enumerator
(full_enum_case name: (identifier) @name) @def.enumerator
((function_definition name: (identifier) @name) @def.constructor (#any-of? @name "this"))
(function_definition name: (identifier) @name) @def.function
(function_definition name: (operator_identifier) @name) @def.function
(function_declaration name: (identifier) @name) @def.function
(function_declaration name: (operator_identifier) @name) @def.function
(type_definition name: (type_identifier) @name) @def.type
(class_parameter ["val" "var"] name: (identifier) @name) @def.field
(class_definition
  "case"
  class_parameters: (class_parameters (class_parameter name: (identifier) @name) @def.field))
(full_enum_case
  class_parameters: (class_parameters (class_parameter name: (identifier) @name) @def.field))
(template_body (val_definition pattern: (identifier) @name) @def.field)
(template_body (var_definition pattern: (identifier) @name) @def.field)
(template_body (val_definition pattern: (tuple_pattern (identifier) @name)) @def.field)
(template_body (val_declaration name: (identifier) @name) @def.field)
(template_body (var_declaration name: (identifier) @name) @def.field)
(template_body (given_definition name: (identifier) @name) @def.field)
(enum_body (val_definition pattern: (identifier) @name) @def.field)
(compilation_unit (val_definition pattern: (identifier) @name) @def.variable)
(compilation_unit (var_definition pattern: (identifier) @name) @def.variable)
(given_definition name: (identifier) @name) @def.variable

(lambda_expression) @region
(for_expression) @region
(case_clause) @region
(extension_definition) @region
(type_parameters name: (identifier) @local)
(covariant_type_parameter name: (identifier) @local)
(contravariant_type_parameter name: (identifier) @local)
(parameter name: (identifier) @local)
(class_parameter name: (identifier) @local)
(binding name: (identifier) @local)
(val_definition pattern: (identifier) @local)
(var_definition pattern: (identifier) @local)
(lambda_expression parameters: (identifier) @local)
(self_type . (identifier) @local)
(enumerator . (identifier) @local)
(tuple_pattern (identifier) @local.lower)
(case_clause pattern: (identifier) @local.lower)
(case_class_pattern pattern: (identifier) @local.lower)
(typed_pattern pattern: (identifier) @local.lower)
(capture_pattern name: (identifier) @local)
(infix_pattern left: (identifier) @local.lower)
(infix_pattern right: (identifier) @local.lower)

(import_declaration) @import

(function_definition (modifiers "override") name: (identifier) @name) @ref.override
(val_definition (modifiers "override") pattern: (identifier) @name) @ref.override
(var_definition (modifiers "override") pattern: (identifier) @name) @ref.override
(class_parameter (modifiers "override") name: (identifier) @name) @ref.override
(extends_clause (type_identifier) @name) @ref.implementation
(extends_clause (generic_type type: (type_identifier) @name)) @ref.implementation
(extends_clause (stable_type_identifier (type_identifier) @name)) @ref.implementation
(extends_clause
  (generic_type type: (stable_type_identifier (type_identifier) @name))) @ref.implementation
(instance_expression (type_identifier) @name) @ref.instantiate
(instance_expression (generic_type type: (type_identifier) @name)) @ref.instantiate
(instance_expression (stable_type_identifier (type_identifier) @name)) @ref.instantiate
(instance_expression
  (generic_type type: (stable_type_identifier (type_identifier) @name))) @ref.instantiate
(call_expression function: (identifier) @name) @ref.call
(call_expression function: (field_expression field: (identifier) @name)) @ref.call
(call_expression function: (generic_function function: (identifier) @name)) @ref.call
(call_expression
  function: (generic_function
    function: (field_expression field: (identifier) @name))) @ref.call
(infix_expression operator: (identifier) @name) @ref.call
(arguments (assignment_expression left: (identifier) @ignore))
(assignment_expression left: (identifier) @name) @ref.write
(assignment_expression left: (field_expression field: (identifier) @name)) @ref.write
((infix_expression left: (identifier) @name operator: (operator_identifier) @verb) @ref.write
  (#any-of? @verb "+=" "-=" "*=" "/=" "|=" "&=" "++=" "--="))
((infix_expression
  left: (field_expression field: (identifier) @name) operator: (operator_identifier) @verb)
  @ref.write
  (#any-of? @verb "+=" "-=" "*=" "/=" "|=" "&=" "++=" "--="))

(package_identifier (identifier) @ignore)
(access_qualifier (identifier) @ignore)
(interpolated_string_expression interpolator: (identifier) @ignore)
((identifier) @ignore (#any-of? @ignore "this" "super"))

((identifier) @name @ref.read)
((type_identifier) @name @ref.read)
