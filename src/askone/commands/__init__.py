"""What the command line does, a module per group of commands."""
