"""Tools that prove Evergrid's promises, shipped so that others can prove them too.

oracle     what every table must hold, worked out naively from the messages alone
cases      single messages, each with what must become of it
scripted   random but repeatable conversations between two sources
hostile    bytes that try to break whoever reads them
"""
