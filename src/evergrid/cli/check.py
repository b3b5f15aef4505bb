"""`evergrid check`"""
