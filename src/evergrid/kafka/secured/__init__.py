"""A secured cluster of our own: certificates, tokens, listeners; for the demo and for tests."""
