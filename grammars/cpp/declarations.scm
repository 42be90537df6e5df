; What defines a name only in C++, below what C has.

; A function with its body: of a class, of a namespace, an operator; the name may stand below `*` and `&`.
(function_definition
  declarator: (function_declarator
    declarator: [(identifier) (field_identifier) (qualified_identifier) (destructor_name) (operator_name)
      (template_function) (template_method)] @name
    parameters: (_) @signature)) @declaration
(function_definition
  declarator: (_ (function_declarator
    declarator: [(identifier) (field_identifier) (qualified_identifier) (destructor_name) (operator_name)
      (template_function) (template_method)] @name
    parameters: (_) @signature))) @declaration
(function_definition
  declarator: (_ (_ (function_declarator
    declarator: [(identifier) (field_identifier) (qualified_identifier) (destructor_name) (operator_name)
      (template_function) (template_method)] @name
    parameters: (_) @signature)))) @declaration
(function_definition declarator: (operator_cast type: (_) @name)) @declaration
(function_definition declarator: (qualified_identifier) @name) @declaration

; A prototype, a variable, a static member.
(declaration declarator: [
  (qualified_identifier) @name
  (init_declarator declarator: [(qualified_identifier) (structured_binding_declarator)] @name)
  (init_declarator declarator: (reference_declarator (identifier) @name))
  (function_declarator
    declarator: [(qualified_identifier) (destructor_name) (operator_name) (template_function)] @name
    parameters: (_) @signature)
  (reference_declarator [
    (identifier) @name
    (function_declarator
      declarator: [(identifier) (qualified_identifier) (operator_name)] @name
      parameters: (_) @signature)])
  (pointer_declarator declarator: (function_declarator
    declarator: [(qualified_identifier) (operator_name)] @name
    parameters: (_) @signature))
  (operator_cast type: (_) @name)]) @declaration
(declaration type: (class_specifier name: (_) @name body: (_))) @declaration

(class_specifier name: (_) @name body: (_)) @declaration
(struct_specifier name: [(template_type) (qualified_identifier)] @name body: (_)) @declaration
(union_specifier name: [(template_type) (qualified_identifier)] @name body: (_)) @declaration
(translation_unit (class_specifier name: (_) @name !body) @declaration)
(declaration_list (class_specifier name: (_) @name !body) @declaration)
(template_declaration (class_specifier name: (_) @name !body) @declaration)
(template_declaration (struct_specifier name: (_) @name !body) @declaration)

; Members.
(field_declaration declarator: [
  (function_declarator declarator: [(field_identifier) (operator_name) (destructor_name)] @name
    parameters: (_) @signature)
  (_ (function_declarator declarator: [(field_identifier) (operator_name)] @name parameters: (_) @signature))
  (reference_declarator (field_identifier) @name)]) @declaration
(field_declaration !declarator type: (class_specifier name: (_) @name)) @declaration
(field_declaration !declarator type: (struct_specifier name: (_) @name)) @declaration
(field_declaration !declarator type: (union_specifier name: (_) @name)) @declaration
(field_declaration !declarator type: (enum_specifier name: (_) @name)) @declaration
(field_initializer . (_) @name) @declaration
(friend_declaration [(type_identifier) (qualified_identifier) (template_type)] @name) @declaration

(namespace_definition name: (_) @name) @declaration
(namespace_definition "namespace" @name !name) @declaration
(namespace_alias_definition name: (_) @name) @declaration
(alias_declaration name: (_) @name) @declaration
(using_declaration [(identifier) (qualified_identifier)] @name) @declaration
(concept_definition name: (_) @name) @declaration
(static_assert_declaration condition: (_) @name) @declaration
(template_instantiation type: (_) @name) @declaration

(namespace_identifier) @use
