; The syntax units of Python: what is taken or left as one. The capture says the class; a later pattern wins.

(expression_statement) @statement
(if_statement) @statement
(elif_clause) @clause
(else_clause) @clause
(for_statement) @statement
(while_statement) @statement
(try_statement) @statement
(except_clause) @clause
(finally_clause) @clause
(with_statement) @statement
(match_statement) @statement
(return_statement) @statement
(raise_statement) @statement
(pass_statement) @statement
(break_statement) @statement
(continue_statement) @statement
(delete_statement) @statement
(assert_statement) @statement
(global_statement) @statement
(nonlocal_statement) @statement
(exec_statement) @statement
(print_statement) @statement

(case_clause) @case
(parameters (_) @parameter)
(dictionary (pair) @field)

; A definition is one with its decorators.
(module (function_definition) @definition)
(block (function_definition) @definition)
(decorated_definition definition: (function_definition)) @definition
(module (class_definition) @declaration)
(block (class_definition) @declaration)
(decorated_definition definition: (class_definition)) @declaration
(type_alias_statement) @declaration
(module (expression_statement (assignment)) @declaration)
(class_definition body: (block (expression_statement (assignment)) @field))

(import_statement) @import
(import_from_statement) @import
(future_import_statement) @import
