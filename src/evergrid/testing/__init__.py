"""Test tools that check an installation's tables, shipped so that users can check theirs.

oracle                what every table must hold, computed from the messages alone
random_cases          random but repeatable messages of any source, and cases of them for a join
installation          topics, a configuration and a pipeline, to compare with the oracle
evergrid_process      `evergrid` commands as child processes, which a test can kill
changelog_tables      tables as a reader of the changelogs has them
"""
