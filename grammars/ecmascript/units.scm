; What JavaScript and TypeScript have in common: what is taken or left as one. The capture says the class; a later
; pattern wins.

(function_declaration) @definition
(generator_function_declaration) @definition
(method_definition) @definition
(class_static_block) @definition
(class_declaration) @declaration
(pair) @field
(object (shorthand_property_identifier) @field)
(object (spread_element) @field)
(array (object) @field)
(array (array) @field)

(lexical_declaration) @statement
(variable_declaration) @statement
(for_statement initializer: (_) @part)
(program (lexical_declaration) @declaration)
(program (variable_declaration) @declaration)
; A function in a variable.
(lexical_declaration
  (variable_declarator value: [(arrow_function) (function_expression) (generator_function)])) @definition
(variable_declaration
  (variable_declarator value: [(arrow_function) (function_expression) (generator_function)])) @definition
(pair value: [(arrow_function) (function_expression) (generator_function)]) @definition

(expression_statement) @statement
(if_statement) @statement
(else_clause) @clause
(for_statement) @statement
(for_in_statement) @statement
(while_statement) @statement
(do_statement) @statement
(switch_statement) @statement
(switch_case) @case
(switch_default) @case
(return_statement) @statement
(throw_statement) @statement
(break_statement) @statement
(continue_statement) @statement
(debugger_statement) @statement
(labeled_statement) @statement
(with_statement) @statement
(try_statement) @statement
(catch_clause) @clause
(finally_clause) @clause
(program (statement_block) @statement)
(statement_block (statement_block) @statement)
(switch_case (statement_block) @statement)

; `exports.f = function () {}`, `A.prototype.f = function () {}`, at any depth: modules may stand in a function.
(expression_statement
  (assignment_expression left: (member_expression) right: [(arrow_function) (function_expression) (generator_function)]))
  @definition
; `module.exports = { ... }`
(program (expression_statement (assignment_expression left: (member_expression) right: (object))) @declaration)

; What is exported is one with the word.
(export_statement) @declaration
(export_statement declaration: (function_declaration) @part) @definition
(export_statement declaration: (generator_function_declaration) @part) @definition
(export_statement declaration: (class_declaration) @part) @declaration
(export_statement declaration: (lexical_declaration) @part) @declaration
(export_statement declaration: (variable_declaration) @part) @declaration
(export_statement declaration: (lexical_declaration
  (variable_declarator value: [(arrow_function) (function_expression) (generator_function)]))) @definition
(export_statement source: (_)) @import

(import_statement) @import
