"""The command ``askone``: one module per command."""
