"""What can go wrong between sites."""


class SitesError(RuntimeError):
    """A joint fit that cannot begin or go on; the message names the party and the remedy."""
