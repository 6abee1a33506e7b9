"""The private side: the only rooms in which raw rows are seen.

Rows come in from arrays and tables, are turned into exact integers, and leave through the wall with
noise on them. Nobody but the estimator, the command line and the paper's release step may import
this package. In the order in which a row goes through it:

- what holds a table: ``tables`` says what every table can do; ``csv_files``, ``arrow_files`` and
  ``office_files`` are kinds of files, ``files`` opens them, each once; ``table_objects`` are frames
  and queries of other libraries,
- ``cells``: some rows of its columns, each cell read on its own; ``row_reader``: into numbers,
- ``rows``: numbers become rows; ``identifiers``: whose they are; ``units``: which of a unit count,
- ``asked_table`` and ``table_rows``: which columns are read, and how all rows of a table are gone
  through, here or by workers (``engines``),
- ``source``: the seam, at which rows answer questions in exact integers; ``sums``: the questions,
- ``wall``: where sums meet noise; ``fit``: the loop over steps, alone or with other sites.
"""
