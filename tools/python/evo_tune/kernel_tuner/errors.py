"""Errors of Kernel Tuner's interface: arguments that evo-tune does not support, and failed
configurations."""

from ..errors import Error


class NotSupported(Error):
    """An argument is not supported; the message names the argument and an alternative."""


class ErrorConfig(str):
    """Replaces the time in the result of a failed configuration."""


class InvalidConfig(ErrorConfig):
    """The resource gate rejected the configuration, for example for too much shared memory."""


class CompilationFailedConfig(ErrorConfig):
    """The configuration does not compile."""


class RuntimeFailedConfig(ErrorConfig):
    """The kernel fails at run time, or its outputs are wrong."""
