; The syntax units that only TypeScript with markup has, below those of typescript.

(jsx_element (jsx_element) @field)
(jsx_element (jsx_self_closing_element) @field)
(jsx_element (jsx_expression) @field)
(jsx_attribute) @field
