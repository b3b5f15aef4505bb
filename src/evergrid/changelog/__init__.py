"""The interface between pipeline and gateway: Evergrid's own topics and what is in them."""
