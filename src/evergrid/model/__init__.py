"""The words the rest of Evergrid is written in. Imports nothing of ours."""
