"""APP FILES: simulated apps as YAML, the schema and checks of their files, and those shipped."""
