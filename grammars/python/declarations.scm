; What defines a name, and what uses one.
;
; @declaration is the whole, @name its name, @signature what else tells it from another of that name. Python has no
; two functions of one name in one place, and a function keeps its name when its parameters change: no signatures.

(module (function_definition name: (identifier) @name) @declaration)
(block (function_definition name: (identifier) @name) @declaration)
(decorated_definition definition: (function_definition name: (identifier) @name)) @declaration
(module (class_definition name: (identifier) @name) @declaration)
(block (class_definition name: (identifier) @name) @declaration)
(decorated_definition definition: (class_definition name: (identifier) @name)) @declaration
(type_alias_statement left: (_) @name) @declaration
(module (expression_statement (assignment left: (_) @name)) @declaration)
(class_definition body: (block (expression_statement (assignment left: (_) @name)) @declaration))
(dictionary (pair key: [(string) (identifier) (attribute) (integer)] @name) @declaration)

(import_statement name: (_) @name) @declaration
(future_import_statement name: (_) @name) @declaration
(import_from_statement module_name: (_) @name) @declaration

(identifier) @use
