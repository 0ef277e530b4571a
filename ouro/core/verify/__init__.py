"""Whether a lineage's history is what ouro writes: every commit, line, decision and tag.

`history` has what goes in and comes out, `walk` goes from commit to commit, `growth` compares the
log's bytes, `beginnings`, `facts` and `verdicts` have the rules of events, `tags` those of tags.
"""
