"""WHAT A TEST HOLDS: the client, its locators, and the device beneath them."""
