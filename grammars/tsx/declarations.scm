; What defines a name only in markup.

(jsx_attribute . (_) @name) @declaration
