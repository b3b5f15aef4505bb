"""What gateway and clients say to each other; docs/protocol.md is the same in prose. No I/O."""
