; What defines a name only in JavaScript, below what ecmascript has.

(field_definition property: (_) @name) @declaration
(jsx_attribute . (_) @name) @declaration
