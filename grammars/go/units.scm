; The syntax units of Go: what is taken or left as one. The capture says the class; a later pattern wins.

(function_declaration) @definition
(method_declaration) @definition

(const_declaration) @statement
(var_declaration) @statement
(type_declaration) @statement
(source_file (const_declaration) @declaration)
(source_file (var_declaration) @declaration)
(source_file (type_declaration) @declaration)
; The members of a group in parentheses.
(const_declaration "(" (const_spec) @field)
(var_spec_list (var_spec) @field)
(type_declaration "(" [(type_spec) (type_alias)] @declaration)

(field_declaration) @field
(method_elem) @field
(interface_type (type_elem) @field)
(literal_value (keyed_element) @field)
; Rows of a table.
(literal_value (literal_element (literal_value)) @field)
(literal_value (literal_element (composite_literal)) @field)
(parameter_declaration) @parameter
(variadic_parameter_declaration) @parameter
(method_declaration receiver: (parameter_list (parameter_declaration) @part))

(expression_case) @case
(type_case) @case
(communication_case) @case
(default_case) @case

(statement_list [
  (expression_statement) (assignment_statement) (short_var_declaration) (inc_statement) (dec_statement)
  (send_statement) (block)] @statement)
(labeled_statement) @statement
(if_statement) @statement
(for_statement) @statement
(expression_switch_statement) @statement
(type_switch_statement) @statement
(select_statement) @statement
(return_statement) @statement
(break_statement) @statement
(continue_statement) @statement
(goto_statement) @statement
(fallthrough_statement) @statement
(go_statement) @statement
(defer_statement) @statement
; `else if` goes with its `else`, and a loop with its label.
(if_statement alternative: (if_statement) @part)
(labeled_statement [(for_statement) (if_statement) (expression_switch_statement) (type_switch_statement)
  (select_statement)] @part)

(package_clause) @import
(import_declaration) @import
(import_declaration (import_spec_list)) @declaration
(import_spec_list (import_spec) @import)
