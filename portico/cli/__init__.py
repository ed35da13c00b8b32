"""The command line: one file per verb, every option named as in Python and in a suite file.

Exit codes: 0 complete, 1 the user's mistake, 2 finished with errors above the threshold, 130 interrupted.
"""
