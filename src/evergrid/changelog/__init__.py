"""The one door between the Spark half and the gateway half: topics, manifest, changes."""
