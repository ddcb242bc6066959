"""The package's exception Error, and the exceptions that a damaged bundle causes."""

import contextlib
import struct


class Error(RuntimeError):
    """Wrong arguments, an unusable file, or a failure of the driver or of a program of
    evo-tune."""


# The exceptions that reading a damaged part of an index may raise.
DAMAGE = (LookupError, TypeError, ValueError, ArithmeticError, AttributeError, RecursionError,
          struct.error)


def damaged(what, error):
    return Error(f"{what} is damaged: {type(error).__name__}: {error}")


@contextlib.contextmanager
def reading(what):
    """Within a with statement, converts exceptions into an Error that says that `what`, a part of
    an index, is damaged."""
    try:
        yield
    except DAMAGE as error:
        raise damaged(what, error) from None
