; SQL: tables with their columns, views, functions, types, and what uses them. It has no imports.

(create_table
  (object_reference schema: (identifier) @container name: (identifier) @name)
  (column_definitions) @body) @def.struct
(create_table (object_reference name: (identifier) @name) (column_definitions) @body) @def.struct
(create_table (object_reference name: (identifier) @name)) @def.struct
(column_definition name: (identifier) @name) @def.field
(create_view
  (object_reference schema: (identifier) @container name: (identifier) @name)
  (create_query) @body) @def.type
(create_view (object_reference name: (identifier) @name) (create_query) @body) @def.type
(create_materialized_view
  (object_reference name: (identifier) @name) (create_query) @body) @def.type
(create_function
  (object_reference schema: (identifier) @container name: (identifier) @name)
  (function_body) @body) @def.function
(create_function (object_reference name: (identifier) @name) (function_body) @body) @def.function
(create_type
  (object_reference name: (identifier) @name) (enum_elements)) @def.enum
(create_type (object_reference name: (identifier) @name)) @def.type
(create_trigger . (keyword_create) (object_reference name: (identifier) @name)) @def.function
(create_schema (identifier) @name) @def.namespace

(function_argument (identifier) @local)

(invocation (object_reference name: (identifier) @name)) @ref.call
(insert (object_reference name: (identifier) @name)) @ref.write
(update (relation (object_reference name: (identifier) @name))) @ref.write
(statement (delete) (from (object_reference name: (identifier) @name))) @ref.write
(assignment left: (field name: (identifier) @name)) @ref.write
(column (identifier) @name) @ref.write
(relation (object_reference name: (identifier) @name)) @ref.read
(column_definition (object_reference name: (identifier) @name)) @ref.read
(create_index (object_reference name: (identifier) @name)) @ref.read
(alter_table (object_reference name: (identifier) @name)) @ref.write
(drop_table (object_reference name: (identifier) @name)) @ref.write
(field name: (identifier) @name) @ref.read
(field column: (identifier) @name) @ref.read
