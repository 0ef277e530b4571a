"""ouro: a coding agent in a loop on a written spec, with git as its memory."""

__version__ = "0.1.0"
