; The syntax units that only TypeScript has, below those of ecmascript.

(required_parameter) @parameter
(optional_parameter) @parameter

(abstract_class_declaration) @declaration
(interface_declaration) @declaration
(type_alias_declaration) @declaration
(enum_declaration) @declaration
(function_signature) @declaration
(module) @declaration
(internal_module) @declaration
(expression_statement (internal_module) @part) @declaration
(import_alias) @import

(public_field_definition) @field
(public_field_definition value: [(arrow_function) (function_expression)]) @definition
(method_signature) @field
(abstract_method_signature) @field
(property_signature) @field
(index_signature) @field
(call_signature) @field
(construct_signature) @field
(enum_assignment) @enumerator
(enum_body name: (_) @enumerator)

(export_statement declaration: [
  (abstract_class_declaration) (interface_declaration) (type_alias_declaration) (enum_declaration)
  (function_signature) (module) (internal_module) (import_alias) (ambient_declaration)] @part) @declaration
(ambient_declaration) @declaration
(ambient_declaration [
  (abstract_class_declaration) (class_declaration) (interface_declaration) (type_alias_declaration)
  (enum_declaration) (function_signature) (module) (internal_module) (lexical_declaration)
  (variable_declaration)] @part)
(export_statement declaration: (ambient_declaration) @part)
