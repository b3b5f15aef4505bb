"""Sample data, and the services of `evergrid demo`."""
