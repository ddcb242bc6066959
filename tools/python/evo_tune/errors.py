"""What goes wrong with a bundle."""


class Error(RuntimeError):
    """Says what was expected; of a file also its name."""
