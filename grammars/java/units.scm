; The syntax units of Java: what is taken or left as one. The capture says the class; a later pattern wins.

(class_declaration) @declaration
(interface_declaration) @declaration
(enum_declaration) @declaration
(record_declaration) @declaration
(annotation_type_declaration) @declaration
(module_declaration) @declaration

(method_declaration) @definition
(constructor_declaration) @definition
(compact_constructor_declaration) @definition
(static_initializer) @definition
(class_body (block) @definition)

(field_declaration) @field
(constant_declaration) @field
(annotation_type_element_declaration) @field
(enum_constant) @enumerator
(element_value_pair) @field
(formal_parameter) @parameter
(spread_parameter) @parameter
(receiver_parameter) @parameter
; The parts of a record are its fields.
(record_declaration parameters: (formal_parameters (formal_parameter) @field))

(switch_block_statement_group) @case
(switch_rule) @case

(local_variable_declaration) @statement
(expression_statement) @statement
(if_statement) @statement
(for_statement) @statement
(enhanced_for_statement) @statement
(while_statement) @statement
(do_statement) @statement
(return_statement) @statement
(throw_statement) @statement
(break_statement) @statement
(continue_statement) @statement
(yield_statement) @statement
(try_statement) @statement
(try_with_resources_statement) @statement
(catch_clause) @clause
(finally_clause) @clause
(synchronized_statement) @statement
(labeled_statement) @statement
(assert_statement) @statement
(explicit_constructor_invocation) @statement
(block (block) @statement)
(switch_block_statement_group (block) @statement)
; A switch is an expression to the grammar; where a statement may stand it is one.
(block (switch_expression) @statement)
(constructor_body (switch_expression) @statement)
(switch_block_statement_group (switch_expression) @statement)
(switch_rule (block) @statement)

(import_declaration) @import
(package_declaration) @import
