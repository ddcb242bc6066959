"""What goes wrong with a bundle."""


class Error(Exception):
    """Names the file and the reason."""
