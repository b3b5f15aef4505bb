"""Clients, properties, security and topics of a Kafka cluster, and what keeps a client out."""
