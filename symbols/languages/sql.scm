; SQL: tables with their columns, views, functions, types, and what uses them. It has no imports.
; An index is a variable of its table, and so is a sequence, of none; a trigger is a function of its
; table. Names of constraints are no symbols. A name that a query gives to a column of its own looks
; like a column where the query sorts by it.

(create_table
  (object_reference schema: (identifier) @container name: (identifier) @name)
  (column_definitions) @body) @def.struct
(create_table (object_reference name: (identifier) @name) (column_definitions) @body) @def.struct
(create_table
  (object_reference schema: (identifier) @container name: (identifier) @name)) @def.struct
(create_table (object_reference name: (identifier) @name)) @def.struct
(alter_table
  (object_reference) @container
  (add_column (column_definition name: (_) @name) @def.field))
(column_definition name: (_) @name) @def.field
(create_index column: (identifier) @name (object_reference) @container) @def.variable
(create_sequence
  (object_reference schema: (identifier) @container name: (identifier) @name)) @def.variable
(create_sequence (object_reference name: (identifier) @name)) @def.variable
(create_view
  (object_reference schema: (identifier) @container name: (identifier) @name)
  (create_query) @body) @def.type
(create_view (object_reference name: (identifier) @name) (create_query) @body) @def.type
(create_materialized_view
  (object_reference schema: (identifier) @container name: (identifier) @name)
  (create_query) @body) @def.type
(create_materialized_view
  (object_reference name: (identifier) @name) (create_query) @body) @def.type
(create_function
  (object_reference schema: (identifier) @container name: (identifier) @name)
  (function_body) @body) @def.function
(create_function (object_reference name: (identifier) @name) (function_body) @body) @def.function
(create_type
  (object_reference schema: (identifier) @container name: (identifier) @name)
  (enum_elements) @body) @def.enum
(create_type (object_reference name: (identifier) @name) (enum_elements) @body) @def.enum
(create_type
  (object_reference schema: (identifier) @container name: (identifier) @name)
  (column_definitions) @body) @def.struct
(create_type (object_reference name: (identifier) @name) (column_definitions) @body) @def.struct
(create_type
  (object_reference schema: (identifier) @container name: (identifier) @name)) @def.type
(create_type (object_reference name: (identifier) @name)) @def.type
(enum_elements enum_element: (literal) @name @def.enumerator)
(create_trigger
  (keyword_trigger) . (object_reference name: (identifier) @name)
  (keyword_on) . (object_reference) @container) @def.function
(create_schema (identifier) @name) @def.namespace

(statement (cte)) @region

(function_argument (identifier) @local)
(function_declaration (identifier) @local)
(cte . (identifier) @local)

(constraint name: (identifier) @ignore)

(invocation (object_reference name: (identifier) @name)) @ref.call
(create_trigger
  [(keyword_function) (keyword_procedure)] . (object_reference name: (identifier) @name)) @ref.call
(insert (object_reference name: (identifier) @name)) @ref.write
(update (relation (object_reference name: (identifier) @name))) @ref.write
(statement (delete) (from (object_reference name: (identifier) @name))) @ref.write
(assignment left: (field name: (identifier) @name)) @ref.write
(ordered_columns (column name: (identifier) @name)) @ref.read
(column (identifier) @name) @ref.write
(relation (object_reference name: (identifier) @name)) @ref.read
(column_definition (object_reference name: (identifier) @name)) @ref.read
(column_definition (identifier) @name) @ref.read
(constraint (object_reference name: (identifier) @name)) @ref.read
(constraint (identifier) @name) @ref.read
(create_index (object_reference name: (identifier) @name)) @ref.read
(create_trigger (keyword_on) . (object_reference name: (identifier) @name)) @ref.read
(alter_table (object_reference name: (identifier) @name)) @ref.write
(drop_column name: (identifier) @name) @ref.write
(rename_column old_name: (identifier) @name) @ref.write
(drop_table (object_reference name: (identifier) @name)) @ref.write
(drop_view (object_reference name: (identifier) @name)) @ref.write
(drop_type (object_reference name: (identifier) @name)) @ref.write
(drop_function (object_reference name: (identifier) @name)) @ref.write
(drop_sequence (object_reference name: (identifier) @name)) @ref.write
(drop_index name: (identifier) @name) @ref.write
(field name: (identifier) @name) @ref.read
(field column: (identifier) @name) @ref.read
