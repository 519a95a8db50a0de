; Scala: types, functions, values and what uses them.

(class_definition name: (identifier) @name) @def.class
(object_definition name: (identifier) @name) @def.class
(trait_definition name: (identifier) @name) @def.trait
(enum_definition name: (identifier) @name) @def.enum
(simple_enum_case name: (identifier) @name) @def.enumerator
(full_enum_case name: (identifier) @name) @def.enumerator
(function_definition name: (identifier) @name) @def.function
(function_definition name: (operator_identifier) @name) @def.function
(function_declaration name: (identifier) @name) @def.function
(type_definition name: (type_identifier) @name) @def.type
(class_parameter ["val" "var"] name: (identifier) @name) @def.field
(template_body (val_definition pattern: (identifier) @name) @def.field)
(template_body (var_definition pattern: (identifier) @name) @def.field)
(template_body (val_declaration name: (identifier) @name) @def.field)
(template_body (var_declaration name: (identifier) @name) @def.field)
(compilation_unit (val_definition pattern: (identifier) @name) @def.variable)
(compilation_unit (var_definition pattern: (identifier) @name) @def.variable)

(parameter name: (identifier) @local)
(binding name: (identifier) @local)
(block (val_definition pattern: (identifier) @local))
(block (var_definition pattern: (identifier) @local))
(lambda_expression parameters: (identifier) @local)
(enumerator . (identifier) @local)

(import_declaration) @import

(function_definition (modifiers "override") name: (identifier) @name) @ref.override
(val_definition (modifiers "override") pattern: (identifier) @name) @ref.override
(var_definition (modifiers "override") pattern: (identifier) @name) @ref.override
(extends_clause (type_identifier) @name) @ref.implementation
(extends_clause (generic_type type: (type_identifier) @name)) @ref.implementation
(instance_expression (type_identifier) @name) @ref.instantiate
(instance_expression (generic_type type: (type_identifier) @name)) @ref.instantiate
(call_expression function: (identifier) @name) @ref.call
(call_expression function: (field_expression field: (identifier) @name)) @ref.call
(call_expression function: (generic_function function: (identifier) @name)) @ref.call
(assignment_expression left: (identifier) @name) @ref.write
(assignment_expression left: (field_expression field: (identifier) @name)) @ref.write
(field_expression value: (identifier) @name) @ref.read
(field_expression field: (identifier) @name) @ref.read
(arguments (identifier) @name) @ref.read
((type_identifier) @name @ref.read)
