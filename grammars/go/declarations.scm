; What defines a name, and what uses one.
;
; @declaration is the whole, @name its name, @signature what else tells it from another of that name: for a method,
; the type that has it.

(function_declaration name: (_) @name) @declaration
(method_declaration
  receiver: (parameter_list (parameter_declaration type: (_) @signature))
  name: (_) @name) @declaration
(method_elem name: (_) @name) @declaration
(interface_type (type_elem) @name @declaration)

(type_declaration [(type_spec name: (_) @name) (type_alias name: (_) @name)]) @declaration
(type_declaration "(" [(type_spec name: (_) @name) (type_alias name: (_) @name)] @declaration)
(const_declaration (const_spec name: (identifier) @name)) @declaration
(const_declaration "(" (const_spec name: (identifier) @name) @declaration)
(source_file (var_declaration (var_spec name: (_) @name)) @declaration)
(source_file (var_declaration (var_spec_list (var_spec name: (_) @name))) @declaration)
(var_spec_list (var_spec name: (_) @name) @declaration)

(field_declaration name: (_) @name) @declaration
(field_declaration !name type: (_) @name) @declaration
(literal_value (keyed_element key: (_) @name) @declaration)

(package_clause (package_identifier) @name) @declaration
(import_declaration (import_spec path: (_) @name)) @declaration
(import_declaration "import" @name (import_spec_list)) @declaration
(import_spec_list (import_spec path: (_) @name) @declaration)

(identifier) @use
(type_identifier) @use
(field_identifier) @use
(package_identifier) @use
