"""Tools that prove Evergrid's promises, shipped so that others can prove them too.

oracle     what every table must hold, worked out from the messages alone
naive      what a window of a table must show, worked out by looking at every row
cases      single messages, each with what must become of it
scripted   random but repeatable conversations between two sources
traffic    long streams of messages, as busy topics have them
hostile    bytes that try to break whoever reads them
processes  Evergrid's own commands, started as a user would and killed as a user would not
tables     tables as a reader of the changelog ends up with them
engine     the gateway's engine over tables written by hand, without Kafka or threads
gateway    a whole gateway on that engine, at a free port
proxy      a way to a server that can be cut, held, slowed and broken off at a byte
viewer     looks at a window as a screen does, and notes every broken promise
world      topics, a configuration and a pipeline in one, to compare with the oracle
"""
