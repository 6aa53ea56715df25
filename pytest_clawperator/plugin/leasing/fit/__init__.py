"""Whether devices fit tests: what each test needs, and what is done where none has it."""
