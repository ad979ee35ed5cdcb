"""The command line: `main` declares the commands; the other modules and folders implement them."""
