"""What is reported: the terminal, summaries, matrix tables, JUnit, errors about devices."""
