"""`python -m ouro`, and the console scripts."""

import atexit
import gc
import signal
from typing import NoReturn


def main() -> NoReturn:
    """Run the program; exits with a code of the README's table."""
    # A background job of a shell starts with SIGINT ignored, and the loop runs steps as such.
    # Until a step has something to save, dying at once is the right answer to Ctrl-C.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    # Modules stay to the end, and the end frees them all: to look through them for garbage, while
    # they come and when they go, is a fifth of a short run.
    gc.disable()
    atexit.register(gc.freeze)
    from ouro.cli import run

    gc.freeze()
    gc.enable()
    run()


if __name__ == "__main__":
    main()
