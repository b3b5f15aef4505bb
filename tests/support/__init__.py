"""What the tests and benchmarks of this repository share; it is not installed.

naive_table           what a window of a table must show, computed by scanning every row
cases                 single messages, each with its expected row or quarantine reason
traffic               long streams of messages, as busy topics have them
hostile_messages      malformed and extreme messages
local_engine          the gateway's engine over tables that a test writes, without Kafka or threads
local_gateway         a whole gateway on that engine, at a free port
local_pipeline        the state of the pipeline that a local gateway shows
fault_proxy           a TCP proxy that can cut, hold, slow down and truncate connections
reference_viewer      follows a window as a screen does, and records every broken promise
free_ports            ports that nothing listens on and no client is given
pauses                how long the test's own process stood still
"""
