"""Errors about bundles."""

import contextlib
import struct


class Error(RuntimeError):
    """Its message states the expected value, and the file's name if a file is at fault."""


# A damaged part of an index, or of an object, raises one of these.
DAMAGE = (LookupError, TypeError, ValueError, ArithmeticError, AttributeError, RecursionError,
          struct.error)


def damaged(what, error):
    return Error(f"{what} is damaged: {type(error).__name__}: {error}")


@contextlib.contextmanager
def reading(what):
    """Reports exceptions raised inside as damage to `what`, a part of an index."""
    try:
        yield
    except DAMAGE as error:
        raise damaged(what, error) from None
