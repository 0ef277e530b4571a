"""Quoted texts: what stands between quotation marks of any of the usual kinds."""

_CLOSING = {
    "'": "'",
    '"': '"',
    "`": "`",
    "“": "”",
    "‘": "’",
    "«": "»",
    "»": "«",
    "„": "“”",
    "‚": "‘’",
    "‹": "›",
    "”": "”",
    "’": "’",
}


def quoted(text: str, at: int) -> tuple[str, int] | None:
    """The text in the quotes that open at `at`, and where they end; None where none do.

    Inside single quotes an apostrophe belongs to its word (`'It's fine'`), so a closing mark is
    one that no letter or digit follows.
    """
    closing = _CLOSING.get(text[at : at + 1])
    if closing is None or text.startswith("```", at):
        return None
    for end in range(at + 1, len(text)):
        if text[end] in closing and not text[end + 1 : end + 2].isalnum():
            return text[at + 1 : end], end + 1
    return None
