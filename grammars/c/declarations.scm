; What defines a name, and what uses one.
;
; @declaration is the whole, @name its name, @signature what else tells it from another of that name.

; The name of a function stands below its parameters and the stars of its result, and in parentheses where a macro of
; that name is to be kept away: `int *(name) (void)`.
(function_definition
  declarator: (function_declarator
    declarator: [(identifier) @name (parenthesized_declarator (identifier) @name)]
    parameters: (_) @signature)) @declaration
(function_definition
  declarator: (pointer_declarator
    declarator: (function_declarator
      declarator: [(identifier) @name (parenthesized_declarator (identifier) @name)]
      parameters: (_) @signature))) @declaration
(function_definition
  declarator: (pointer_declarator
    declarator: (pointer_declarator
      declarator: (function_declarator
        declarator: [(identifier) @name (parenthesized_declarator (identifier) @name)]
        parameters: (_) @signature)))) @declaration
; What gives back a pointer to a function.
(function_definition
  declarator: (function_declarator
    declarator: (parenthesized_declarator
      (pointer_declarator
        declarator: (function_declarator
          declarator: (identifier) @name
          parameters: (_) @signature))))) @declaration

(declaration
  declarator: [
    (identifier) @name
    (array_declarator declarator: [
      (identifier) @name
      (array_declarator declarator: [(identifier) @name (array_declarator declarator: (identifier) @name)])])
    (function_declarator declarator: [
      (identifier) @name
      (parenthesized_declarator [
        (identifier) @name
        (pointer_declarator declarator: [(identifier) @name (array_declarator declarator: (identifier) @name)])])])
    (pointer_declarator declarator: [
      (identifier) @name
      (array_declarator declarator: (identifier) @name)
      (function_declarator declarator: [(identifier) @name (parenthesized_declarator (identifier) @name)])
      (pointer_declarator declarator: [
        (identifier) @name
        (array_declarator declarator: (identifier) @name)
        (function_declarator declarator: [(identifier) @name (parenthesized_declarator (identifier) @name)])])])
    (init_declarator declarator: [
      (identifier) @name
      (array_declarator declarator: [
        (identifier) @name
        (array_declarator declarator: [(identifier) @name (array_declarator declarator: (identifier) @name)])])
      (pointer_declarator declarator: [
        (identifier) @name
        (array_declarator declarator: (identifier) @name)
        (pointer_declarator declarator: [(identifier) @name (array_declarator declarator: (identifier) @name)])])
      (function_declarator
        declarator: (parenthesized_declarator (pointer_declarator declarator: [
          (identifier) @name
          (array_declarator declarator: (identifier) @name)])))])
  ]) @declaration
(declaration type: (struct_specifier name: (type_identifier) @name body: (_))) @declaration
(declaration type: (union_specifier name: (type_identifier) @name body: (_))) @declaration
(declaration type: (enum_specifier name: (type_identifier) @name body: (_))) @declaration

(struct_specifier name: (type_identifier) @name body: (_)) @declaration
(union_specifier name: (type_identifier) @name body: (_)) @declaration
(enum_specifier name: (type_identifier) @name body: (_)) @declaration
; A type without a name is known by its first member, and one without a body is announced.
(enum_specifier !name body: (enumerator_list . (enumerator name: (identifier) @name))) @declaration
(translation_unit (struct_specifier name: (type_identifier) @name !body) @declaration)
(declaration_list (struct_specifier name: (type_identifier) @name !body) @declaration)
(preproc_ifdef (struct_specifier name: (type_identifier) @name !body) @declaration)
(preproc_if (struct_specifier name: (type_identifier) @name !body) @declaration)

(type_definition
  declarator: [
    (type_identifier) @name
    (primitive_type) @name
    (array_declarator declarator: (type_identifier) @name)
    (pointer_declarator declarator: [
      (type_identifier) @name
      (pointer_declarator declarator: (type_identifier) @name)
      (function_declarator declarator: (parenthesized_declarator
        (pointer_declarator declarator: (type_identifier) @name)))])
    (function_declarator declarator: [
      (type_identifier) @name
      (parenthesized_declarator [
        (type_identifier) @name
        (pointer_declarator declarator: (type_identifier) @name)])])
  ]) @declaration

(field_declaration
  declarator: [
    (field_identifier) @name
    (array_declarator declarator: [
      (field_identifier) @name
      (array_declarator declarator: (field_identifier) @name)])
    (pointer_declarator declarator: [
      (field_identifier) @name
      (array_declarator declarator: (field_identifier) @name)
      (pointer_declarator declarator: (field_identifier) @name)
      (function_declarator declarator: (parenthesized_declarator
        (pointer_declarator declarator: (field_identifier) @name)))])
    (function_declarator declarator: (parenthesized_declarator
      (pointer_declarator declarator: (field_identifier) @name)))
  ]) @declaration
(enumerator name: (identifier) @name) @declaration
(initializer_pair designator: [(field_designator) (subscript_designator)] @name) @declaration

(preproc_def name: (identifier) @name) @declaration
(preproc_function_def name: (identifier) @name parameters: (_) @signature) @declaration
(preproc_call directive: (_) @name argument: (_) @signature) @declaration
(preproc_include path: (_) @name) @declaration

; Macros called outside of functions, as they stand in tables and `.def` files: known by what they are given.
(translation_unit
  (expression_statement
    (call_expression function: (identifier) @name arguments: (_) @signature)) @declaration)
(declaration_list
  (expression_statement
    (call_expression function: (identifier) @name arguments: (_) @signature)) @declaration)

(identifier) @use
(type_identifier) @use
(field_identifier) @use
