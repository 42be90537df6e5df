; What JavaScript and TypeScript have in common: what defines a name, and what uses one.
;
; @declaration is the whole, @name its name. A function keeps its name when its parameters change: no signatures.

(function_declaration name: (_) @name) @declaration
(generator_function_declaration name: (_) @name) @declaration
(method_definition name: (_) @name) @declaration
(class_declaration name: (_) @name) @declaration
(pair key: (_) @name) @declaration
(object (shorthand_property_identifier) @name @declaration)

(program (lexical_declaration (variable_declarator name: (_) @name)) @declaration)
(program (variable_declaration (variable_declarator name: (_) @name)) @declaration)
(lexical_declaration
  (variable_declarator
    name: (_) @name
    value: [(arrow_function) (function_expression) (generator_function)])) @declaration
(variable_declaration
  (variable_declarator
    name: (_) @name
    value: [(arrow_function) (function_expression) (generator_function)])) @declaration

(expression_statement
  (assignment_expression
    left: (member_expression) @name
    right: [(arrow_function) (function_expression) (generator_function)])) @declaration
(program
  (expression_statement (assignment_expression left: (member_expression) @name right: (object))) @declaration)

(export_statement declaration: (lexical_declaration (variable_declarator name: (_) @name))) @declaration
(export_statement declaration: (variable_declaration (variable_declarator name: (_) @name))) @declaration
(export_statement "default" @name value: (_)) @declaration
(export_statement source: (_) @name) @declaration
(export_statement "export" @name (export_clause)) @declaration

(import_statement source: (_) @name) @declaration

(identifier) @use
(property_identifier) @use
(private_property_identifier) @use
(shorthand_property_identifier) @use
