; The syntax units of C: what is taken or left as one. The capture says the class; a later pattern wins.

(function_definition) @definition

(translation_unit (declaration) @declaration)
(declaration_list (declaration) @declaration)
(linkage_specification (declaration) @declaration)
(preproc_ifdef (declaration) @declaration)
(preproc_if (declaration) @declaration)
(preproc_elif (declaration) @declaration)
(preproc_else (declaration) @declaration)
(type_definition) @declaration
(preproc_def) @declaration
(preproc_function_def) @declaration
; #undef, #pragma, #error
(preproc_call) @declaration

; A type is a declaration where it stands alone, as before a semicolon; elsewhere it is a part of one.
(translation_unit (struct_specifier) @declaration)
(translation_unit (union_specifier) @declaration)
(translation_unit (enum_specifier) @declaration)
(declaration_list (struct_specifier) @declaration)
(declaration_list (union_specifier) @declaration)
(declaration_list (enum_specifier) @declaration)
(preproc_ifdef (struct_specifier) @declaration)
(preproc_if (struct_specifier) @declaration)
(preproc_else (struct_specifier) @declaration)
(preproc_ifdef (union_specifier) @declaration)
(preproc_if (union_specifier) @declaration)
(preproc_else (union_specifier) @declaration)
(preproc_ifdef (enum_specifier) @declaration)
(preproc_if (enum_specifier) @declaration)
(preproc_else (enum_specifier) @declaration)

(field_declaration) @field
(enumerator) @enumerator
(initializer_list (initializer_pair) @field)
(initializer_list (initializer_list) @field)
(initializer_list (call_expression) @field)
(case_statement) @case
(parameter_declaration) @parameter
(parameter_list (_ "...") @parameter)
; The types of parameters between the head of a function and its body, in the old style.
(function_definition (declaration) @parameter)

(compound_statement (declaration) @statement)
(case_statement (declaration) @statement)
(labeled_statement (declaration) @statement)
(expression_statement) @statement
(if_statement) @statement
(else_clause) @clause
(for_statement) @statement
(while_statement) @statement
(do_statement) @statement
(switch_statement) @statement
(return_statement) @statement
(break_statement) @statement
(continue_statement) @statement
(goto_statement) @statement
(labeled_statement) @statement
(attributed_statement) @statement
(compound_statement (compound_statement) @statement)
(case_statement (compound_statement) @statement)

; A call of a macro outside of functions reads as an expression, with or without its semicolon.
(translation_unit (expression_statement) @declaration)
(declaration_list (expression_statement) @declaration)

(preproc_include) @import

(preproc_ifdef) @region
(preproc_if) @region
(preproc_elif) @region
(preproc_elifdef) @region
(preproc_else) @region
