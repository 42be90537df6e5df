; What defines a name only in TypeScript, below what ecmascript has. Functions are told apart by their parameters where
; they have no body: overloads.

(abstract_class_declaration name: (_) @name) @declaration
(interface_declaration name: (_) @name) @declaration
(type_alias_declaration name: (_) @name) @declaration
(enum_declaration name: (_) @name) @declaration
(function_signature name: (_) @name parameters: (_) @signature) @declaration
(module name: (_) @name) @declaration
(internal_module name: (_) @name) @declaration
(ambient_declaration (lexical_declaration (variable_declarator name: (_) @name))) @declaration
(ambient_declaration (variable_declaration (variable_declarator name: (_) @name))) @declaration
(import_statement (import_require_clause source: (_) @name)) @declaration
(import_alias . (_) @name) @declaration
(ambient_declaration "global" @name) @declaration

(public_field_definition name: (_) @name) @declaration
(method_signature name: (_) @name parameters: (_) @signature) @declaration
(abstract_method_signature name: (_) @name parameters: (_) @signature) @declaration
(property_signature name: (_) @name) @declaration
(enum_assignment name: (_) @name) @declaration
(enum_body name: (_) @name @declaration)

(type_identifier) @use
