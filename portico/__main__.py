"""``python -m portico``: the command where its script is not on the path."""

from portico.cli.main import main

if __name__ == "__main__":
    main()
