; The syntax units of Rust: what is taken or left as one. The capture says the class; a later pattern wins.

(function_item) @definition

(function_signature_item) @declaration
(struct_item) @declaration
(enum_item) @declaration
(union_item) @declaration
(trait_item) @declaration
(impl_item) @declaration
(mod_item) @declaration
(foreign_mod_item) @declaration
(type_item) @declaration
(associated_type) @declaration
(const_item) @declaration
(static_item) @declaration
(macro_definition) @declaration
(inner_attribute_item) @declaration

(field_declaration) @field
(field_initializer) @field
(shorthand_field_initializer) @field
(base_field_initializer) @field
(array_expression (struct_expression) @field)
(array_expression (tuple_expression) @field)
(array_expression (call_expression) @field)
(enum_variant) @enumerator
(match_arm) @case
; A rule of a macro; the first that fits counts.
(macro_rule) @case
(parameter) @parameter
(self_parameter) @parameter
(variadic_parameter) @parameter

(let_declaration) @statement
(expression_statement) @statement
; The value of a block has no semicolon.
(block (_expression) @statement)
; What has a block of its own is a statement of its own kind.
(expression_statement [
  (if_expression) (match_expression) (for_expression) (while_expression) (loop_expression) (unsafe_block) (block)
  (return_expression) (break_expression) (continue_expression)] @statement) @part
(else_clause) @clause
(let_declaration alternative: (block) @clause)

; A call of a macro between items, or one that ends a block.
(source_file (macro_invocation) @declaration)
(source_file (expression_statement (macro_invocation)) @declaration)
(declaration_list (macro_invocation) @declaration)
(block (macro_invocation) @statement)

(use_declaration) @import
(extern_crate_declaration) @import
