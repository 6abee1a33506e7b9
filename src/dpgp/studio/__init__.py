"""A page on the curator's own machine: from a table to a published model without writing code.

The server answers one browser on this machine and never holds a row: a fit runs in a process of its
own, through the functions of the command line. docs/studio.md.
"""
