"""Everything that touches git: the only place that imports pygit2 or runs the git program."""
