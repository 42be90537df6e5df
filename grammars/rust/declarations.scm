; What defines a name, and what uses one.
;
; @declaration is the whole, @name its name, @signature what else tells it from another of that name. A function keeps
; its name when its parameters change, and no other function there has it: no signatures of parameters.

(function_item name: (_) @name) @declaration
(function_signature_item name: (_) @name) @declaration
(struct_item name: (_) @name) @declaration
(enum_item name: (_) @name) @declaration
(union_item name: (_) @name) @declaration
(trait_item name: (_) @name) @declaration
(impl_item trait: (_) @signature type: (_) @name) @declaration
(impl_item !trait type: (_) @name) @declaration
(mod_item name: (_) @name) @declaration
(foreign_mod_item (extern_modifier) @name) @declaration
(type_item name: (_) @name) @declaration
(associated_type name: (_) @name) @declaration
(const_item name: (_) @name) @declaration
(static_item name: (_) @name) @declaration
(macro_definition name: (_) @name) @declaration
(inner_attribute_item (attribute) @name) @declaration

(field_declaration name: (_) @name) @declaration
(field_initializer field: (_) @name) @declaration
(shorthand_field_initializer (identifier) @name) @declaration
(enum_variant name: (_) @name) @declaration

(source_file (macro_invocation macro: (_) @name (token_tree) @signature) @declaration)
(source_file (expression_statement (macro_invocation macro: (_) @name (token_tree) @signature)) @declaration)
(declaration_list (macro_invocation macro: (_) @name (token_tree) @signature) @declaration)

(use_declaration argument: (_) @name) @declaration
(extern_crate_declaration name: (_) @name) @declaration

(identifier) @use
(type_identifier) @use
(field_identifier) @use
(shorthand_field_identifier) @use
