"""What a user may ask: one table of options that estimators, commands, files and pages read.

An option is an entry of :mod:`dpgp.study.table`; docs/house.md says what follows from it.
"""
