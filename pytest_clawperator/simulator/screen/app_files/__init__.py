"""Apps as their YAML files declare them: reading, schema, checks, and the expression language."""
