"""`python -m ouro`, and the console scripts."""

import signal
from typing import NoReturn


def main() -> NoReturn:
    """Run the program; exits with a code of the README's table."""
    # A background job of a shell starts with SIGINT ignored, and the loop runs steps as such.
    # Until a step has something to save, dying at once is the right answer to Ctrl-C.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    from ouro.cli import run

    run()


if __name__ == "__main__":
    main()
