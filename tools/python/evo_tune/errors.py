"""What goes wrong with a bundle."""

import contextlib
import struct


class Error(RuntimeError):
    """Says what was expected; of a file also its name."""


@contextlib.contextmanager
def reading(what):
    """What goes wrong inside is a damaged part of an index."""
    try:
        yield
    except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError, RecursionError,
            struct.error) as error:
        raise Error(f"{what} is damaged: {type(error).__name__}: {error}") from None
