"""The program's verbs: read, fold, act, append. `step` is the page to begin with."""
