"""The command line: `main` declares the commands; the folders and modules do their work."""
