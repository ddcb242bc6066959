"""What a call of Kernel Tuner's interface asks for and evo-tune does not do."""

from ..errors import Error


class NotSupported(Error):
    """Names the argument, and says what to do instead."""


class ErrorConfig(str):
    """A configuration that failed, in place of its time."""


class InvalidConfig(ErrorConfig):
    """It takes more of a resource than the device has."""


class CompilationFailedConfig(ErrorConfig):
    """It does not compile."""


class RuntimeFailedConfig(ErrorConfig):
    """It fails when it runs, or computes something else than is expected."""
