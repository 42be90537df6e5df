; The syntax units that only JavaScript has, below those of ecmascript.

(formal_parameters (_) @parameter)
(formal_parameters (comment) @part)

(using_declaration) @statement

(field_definition) @field
(field_definition value: [(arrow_function) (function_expression)]) @definition

; Markup in expressions.
(jsx_element (jsx_element) @field)
(jsx_element (jsx_self_closing_element) @field)
(jsx_element (jsx_expression) @field)
(jsx_attribute) @field
