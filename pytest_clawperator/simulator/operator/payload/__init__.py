"""What the Operator was asked to do: the payload, parsed and checked."""
