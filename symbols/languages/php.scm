; PHP: functions, types, members and what uses them. Variables are local nearly always, and are no
; symbols. A constructor's parameter with a word of visibility is a field of the class. A name is
; known by its last word: namespaces are no qualifiers.

(function_definition name: (name) @name) @def.function
(class_declaration name: (name) @name) @def.class
(interface_declaration name: (name) @name) @def.interface
(trait_declaration name: (name) @name) @def.trait
(enum_declaration name: (name) @name) @def.enum
(enum_case name: (name) @name) @def.enumerator
((method_declaration name: (name) @name) @def.constructor (#any-of? @name "__construct"))
(method_declaration name: (name) @name) @def.method
(const_declaration (const_element (name) @name)) @def.constant
((function_call_expression
  function: (name) @verb
  arguments: (arguments . (argument (string (string_content) @name)))) @def.constant
  (#any-of? @verb "define"))
(property_declaration (property_element name: (variable_name (name) @name))) @def.field
(property_promotion_parameter name: (variable_name (name) @name)) @def.field
(namespace_definition name: (namespace_name) @name) @def.namespace

(namespace_use_declaration (namespace_use_clause (qualified_name) @import))
(namespace_use_declaration (namespace_use_clause . (name) @import))
(namespace_use_declaration (namespace_name) @import body: (namespace_use_group))
(require_once_expression
  [(string (string_content) @import)
   (encapsed_string (string_content) @import)
   (binary_expression right: (string (string_content) @import))
   (parenthesized_expression (string (string_content) @import))
   (parenthesized_expression (binary_expression right: (string (string_content) @import)))])
(require_expression
  [(string (string_content) @import)
   (encapsed_string (string_content) @import)
   (binary_expression right: (string (string_content) @import))
   (parenthesized_expression (string (string_content) @import))
   (parenthesized_expression (binary_expression right: (string (string_content) @import)))])
(include_once_expression
  [(string (string_content) @import)
   (encapsed_string (string_content) @import)
   (binary_expression right: (string (string_content) @import))
   (parenthesized_expression (string (string_content) @import))
   (parenthesized_expression (binary_expression right: (string (string_content) @import)))])
(include_expression
  [(string (string_content) @import)
   (encapsed_string (string_content) @import)
   (binary_expression right: (string (string_content) @import))
   (parenthesized_expression (string (string_content) @import))
   (parenthesized_expression (binary_expression right: (string (string_content) @import)))])

; What looks like a name and is none.
((name) @ignore
  (#any-of? @ignore
    "self" "static" "parent" "__CLASS__" "__DIR__" "__FILE__" "__FUNCTION__" "__LINE__" "__METHOD__"
    "__NAMESPACE__" "__TRAIT__"))
((class_constant_access_expression (_) . (name) @ignore) (#any-of? @ignore "class"))
(namespace_name (name) @ignore)
(namespace_use_clause (name) @ignore)
(namespace_use_clause (qualified_name (name) @ignore))
(namespace_use_clause alias: (name) @ignore)
(argument name: (name) @ignore)
(goto_statement (name) @ignore)
(named_label_statement (name) @ignore)

((method_declaration
  attributes: (attribute_list (attribute_group (attribute [(name) (qualified_name)] @verb)))
  name: (name) @name) @ref.override
  (#any-of? @verb "Override" "\\Override"))
(base_clause [(name) @name (qualified_name (name) @name)]) @ref.implementation
(class_interface_clause [(name) @name (qualified_name (name) @name)]) @ref.implementation
(use_declaration [(name) @name (qualified_name (name) @name)]) @ref.implementation
(object_creation_expression [(name) @name (qualified_name (name) @name)]) @ref.instantiate
(function_call_expression function: [(name) @name (qualified_name (name) @name)]) @ref.call
(member_call_expression name: (name) @name) @ref.call
(nullsafe_member_call_expression name: (name) @name) @ref.call
(scoped_call_expression name: (name) @name) @ref.call
(assignment_expression left: (member_access_expression name: (name) @name)) @ref.write
(assignment_expression
  left: (subscript_expression (member_access_expression name: (name) @name))) @ref.write
(assignment_expression
  left: (scoped_property_access_expression name: (variable_name (name) @name))) @ref.write
(assignment_expression left: (subscript_expression
  (scoped_property_access_expression name: (variable_name (name) @name)))) @ref.write
(augmented_assignment_expression left: (member_access_expression name: (name) @name)) @ref.write
(augmented_assignment_expression
  left: (scoped_property_access_expression name: (variable_name (name) @name))) @ref.write
(update_expression argument: (member_access_expression name: (name) @name)) @ref.write
(update_expression
  argument: (scoped_property_access_expression name: (variable_name (name) @name))) @ref.write
(scoped_property_access_expression name: (variable_name (name) @name)) @ref.read
(variable_name (name) @ignore)
((name) @name @ref.read)
