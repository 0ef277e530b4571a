"""The pure core: seeds, events, the fold and the decision. No I/O, no clock, no git."""
