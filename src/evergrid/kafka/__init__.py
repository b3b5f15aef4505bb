"""Everything that touches a Kafka cluster from outside Spark: jars, broker, clients, topics."""
