; Swift: types, functions, properties and what uses them.

(class_declaration "struct" name: (type_identifier) @name) @def.struct
(class_declaration "enum" name: (type_identifier) @name) @def.enum
(class_declaration "extension" name: (user_type . (type_identifier) @name .)) @scope
(class_declaration "extension"
  name: (user_type . (type_identifier) @container . (type_identifier) @name .)) @scope
(class_declaration name: (type_identifier) @name) @def.class
(protocol_declaration name: (type_identifier) @name) @def.interface
(enum_entry name: (simple_identifier) @name @def.enumerator . data_contents: (_) @tail)
(enum_entry name: (simple_identifier) @name @def.enumerator . "=" . raw_value: (_) @tail)
(enum_entry name: (simple_identifier) @name @def.enumerator)
(typealias_declaration name: (type_identifier) @name) @def.type
(associatedtype_declaration name: (type_identifier) @name) @def.type
(function_declaration name: (simple_identifier) @name) @def.function
(function_declaration
  name: [
    (custom_operator) (bang) "==" "!=" "===" "!==" "<" "<=" ">" ">=" "+" "-" "*" "/" "%" "+=" "-="
    "*=" "/=" "%=" "&" "|" "^" "~" "<<" ">>"
  ] @name) @def.function
(protocol_function_declaration name: (simple_identifier) @name) @def.method
(protocol_function_declaration
  name: [(custom_operator) "==" "!=" "<" "<=" ">" ">=" "+" "-" "*" "/"] @name) @def.method
(init_declaration "init" @name) @def.constructor
(deinit_declaration "deinit" @name) @def.method
(subscript_declaration "subscript" @name) @def.method
(protocol_property_declaration
  name: (pattern bound_identifier: (simple_identifier) @name)) @def.field
((class_body
  (property_declaration
    (modifiers (property_modifier) @verb)
    (value_binding_pattern mutability: "let")
    name: (pattern bound_identifier: (simple_identifier) @name)) @def.constant)
  (#any-of? @verb "static" "class"))
((enum_class_body
  (property_declaration
    (modifiers (property_modifier) @verb)
    (value_binding_pattern mutability: "let")
    name: (pattern bound_identifier: (simple_identifier) @name)) @def.constant)
  (#any-of? @verb "static"))
(source_file
  (property_declaration
    (value_binding_pattern mutability: "let")
    name: (pattern bound_identifier: (simple_identifier) @name)) @def.constant)
(class_body
  (property_declaration name: (pattern bound_identifier: (simple_identifier) @name)) @def.field)
(enum_class_body
  (property_declaration name: (pattern bound_identifier: (simple_identifier) @name)) @def.field)
(property_declaration name: (pattern bound_identifier: (simple_identifier) @name)) @def.variable
(lambda_literal) @region

(parameter name: (simple_identifier) @local)
(lambda_parameter name: (simple_identifier) @local)
(capture_list_item name: (simple_identifier) @local)
(computed_setter (simple_identifier) @local)
(willset_clause (simple_identifier) @local)
(didset_clause (simple_identifier) @local)
(if_statement bound_identifier: (simple_identifier) @local)
(guard_statement bound_identifier: (simple_identifier) @local)
(while_statement bound_identifier: (simple_identifier) @local)
(pattern bound_identifier: (simple_identifier) @local)
(pattern (pattern (simple_identifier) @local))
(pattern (value_binding_pattern) (simple_identifier) @local)
(type_parameter (type_identifier) @local.type)

(import_declaration (identifier) @import)

; Words of the language, not types.
((attribute (user_type (type_identifier) @ignore))
  (#any-of? @ignore
    "testable" "escaping" "autoclosure" "discardableResult" "objc" "objcMembers" "nonobjc"
    "available" "inlinable" "inline" "usableFromInline" "frozen" "main" "convention"
    "preconcurrency" "dynamicMemberLookup" "dynamicCallable" "propertyWrapper" "resultBuilder"
    "unknown" "IBOutlet" "IBAction" "NSManaged" "UIApplicationMain" "_exported" "_spi"))
((navigation_suffix suffix: (simple_identifier) @ignore) (#any-of? @ignore "self"))
(attribute (simple_identifier) @ignore)
(availability_condition (identifier (simple_identifier) @ignore))
(value_argument_label (simple_identifier) @ignore)
(parameter external_name: (simple_identifier) @ignore)
(lambda_parameter external_name: (simple_identifier) @ignore)
(enum_type_parameters (simple_identifier) @ignore)
(tuple_type_item name: (simple_identifier) @ignore)

((function_declaration
  (modifiers (member_modifier) @verb) name: (simple_identifier) @name) @ref.override
  (#any-of? @verb "override"))
((property_declaration
  (modifiers (member_modifier) @verb)
  name: (pattern bound_identifier: (simple_identifier) @name)) @ref.override
  (#any-of? @verb "override"))
(inheritance_specifier
  inherits_from: (user_type (type_identifier) @name.type .)) @ref.implementation
(inheritance_specifier
  inherits_from: (user_type (type_identifier) @name.type . (type_arguments) .)) @ref.implementation
(constructor_expression
  constructed_type: (user_type (type_identifier) @name.type)) @ref.instantiate
; An index is a call in other brackets to this grammar.
(call_expression (simple_identifier) @name (call_suffix (value_arguments . "["))) @ref.read
(call_expression
  (navigation_expression
    suffix: (navigation_suffix suffix: (simple_identifier) @name))
  (call_suffix (value_arguments . "["))) @ref.read
(call_expression (simple_identifier) @name) @ref.call
(call_expression
  (navigation_expression
    suffix: (navigation_suffix suffix: (simple_identifier) @name))) @ref.call
(call_expression (prefix_expression target: (simple_identifier) @name)) @ref.call
; "a + f(x)" is a call of "a + f" to this grammar.
(call_expression (_ rhs: (simple_identifier) @name)) @ref.call
(assignment
  target: (directly_assignable_expression (simple_identifier) @name)) @ref.write
(assignment
  target: (directly_assignable_expression
    (navigation_expression
      suffix: (navigation_suffix suffix: (simple_identifier) @name)))) @ref.write
((type_identifier) @name.type @ref.read)
((simple_identifier) @name @ref.read)
