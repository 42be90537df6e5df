; The syntax units that only C++ has, below those of C.

(namespace_definition) @declaration
(namespace_alias_definition) @declaration
(alias_declaration) @declaration
(using_declaration) @declaration
(friend_declaration) @field
(friend_declaration [(declaration) (function_definition)] @part)
(static_assert_declaration) @declaration
(concept_definition) @declaration
(template_instantiation) @declaration
; Constructors, and operators of conversion, without a body.
(field_declaration_list (declaration) @field)

(translation_unit (class_specifier) @declaration)
(declaration_list (class_specifier) @declaration)
(preproc_ifdef (class_specifier) @declaration)
(preproc_if (class_specifier) @declaration)
(preproc_else (class_specifier) @declaration)

; A template is one with what it is of.
(template_declaration) @declaration
(template_declaration (function_definition) @part) @definition
(template_declaration [
  (declaration) (alias_declaration) (concept_definition) (friend_declaration) (class_specifier) (struct_specifier)
  (union_specifier) (template_declaration)] @part)

(optional_parameter_declaration) @parameter
(variadic_parameter_declaration) @parameter
(field_initializer_list (field_initializer) @field)

(for_range_loop) @statement
(throw_statement) @statement
(try_statement) @statement
(catch_clause) @clause
(co_return_statement) @statement
(co_yield_statement) @statement
(compound_statement (alias_declaration) @statement)
(compound_statement (using_declaration) @statement)
(compound_statement (static_assert_declaration) @statement)
; What stands in the head of a statement goes with it.
(for_statement initializer: (declaration) @part)
(condition_clause value: (declaration) @part)
(init_statement (declaration) @part)
(init_statement (expression_statement) @part)
