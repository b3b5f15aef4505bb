"""The embedded Kafka broker of the demo and the tests, and the Java libraries."""
