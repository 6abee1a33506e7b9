"""The private side: the only rooms in which raw rows are seen.

Rows come in from arrays and tables, are turned into exact integers, and leave through the wall with
noise on them. Nobody but the estimator, the command line and the paper's release step may import
this package.
"""
