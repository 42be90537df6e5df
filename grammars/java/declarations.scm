; What defines a name, and what uses one.
;
; @declaration is the whole, @name its name, @signature what else tells it from another of that name.

(class_declaration name: (identifier) @name) @declaration
(interface_declaration name: (identifier) @name) @declaration
(enum_declaration name: (identifier) @name) @declaration
(record_declaration name: (identifier) @name) @declaration
(annotation_type_declaration name: (identifier) @name) @declaration

(method_declaration name: (identifier) @name parameters: (_) @signature) @declaration
(constructor_declaration name: (identifier) @name parameters: (_) @signature) @declaration
(compact_constructor_declaration name: (identifier) @name) @declaration

(field_declaration declarator: (variable_declarator name: (identifier) @name)) @declaration
(constant_declaration declarator: (variable_declarator name: (identifier) @name)) @declaration
(record_declaration parameters: (formal_parameters (formal_parameter name: (identifier) @name) @declaration))
(annotation_type_element_declaration name: (identifier) @name) @declaration
(enum_constant name: (identifier) @name) @declaration
(local_variable_declaration declarator: (variable_declarator name: (identifier) @name)) @declaration

(import_declaration (_) @name) @declaration
(import_declaration (_) @name (asterisk) @signature) @declaration
(package_declaration (_) @name) @declaration
(module_declaration name: (_) @name) @declaration

(identifier) @use
(type_identifier) @use
