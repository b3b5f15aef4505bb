"""Test tools that check Evergrid's promises, shipped so that users can check them too.

oracle                what every table must hold, computed from the messages alone
naive_table           what a window of a table must show, computed by scanning every row
cases                 single messages, each with its expected row or quarantine reason
random_cases          random but repeatable messages of the two sources of a join
traffic               long streams of messages, as busy topics have them
hostile_messages      malformed and extreme messages
evergrid_process      `evergrid` commands as child processes, which a test can kill
changelog_tables      tables as a reader of the changelogs has them
local_engine          the gateway's engine over tables that a test writes, without Kafka or threads
local_gateway         a whole gateway on that engine, at a free port
local_pipeline        the state of the pipeline that a local gateway shows
fault_proxy           a TCP proxy that can cut, hold, slow down and truncate connections
reference_viewer      follows a window as a screen does, and records every broken promise
installation          topics, a configuration and a pipeline, to compare with the oracle
"""
