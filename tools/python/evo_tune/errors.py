"""What goes wrong with a bundle."""

import contextlib
import struct


class Error(RuntimeError):
    """Says what was expected; of a file also its name."""


# A damaged part of an index, or of an object, raises one of these.
DAMAGE = (LookupError, TypeError, ValueError, ArithmeticError, AttributeError, RecursionError,
          struct.error)


def damaged(what, error):
    return Error(f"{what} is damaged: {type(error).__name__}: {error}")


@contextlib.contextmanager
def reading(what):
    """What goes wrong inside is a damaged part of an index."""
    try:
        yield
    except DAMAGE as error:
        raise damaged(what, error) from None
