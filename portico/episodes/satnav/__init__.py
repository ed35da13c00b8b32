"""SatNav's questions: drawn on aerial worlds, put into words that their geometry bears out, read from and written to SatNav's files."""
