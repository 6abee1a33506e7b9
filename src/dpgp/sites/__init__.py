"""A joint fit of several custodians: they add up exact integers under masks, and show no row.

Every site runs the same fit on its own rows. Where a fit adds noise to a sum over rows, a site adds
its share of the noise, hides the result under masks that cancel over all sites if all were told the
same, and goes on with the total. A coordinator adds what it gets and sees nothing else.
Proof: docs/proofs/sites.md.
"""

from typing import TYPE_CHECKING

from dpgp.package import lazy_names

if TYPE_CHECKING:
    from dpgp.sites.coordinator import coordinate
    from dpgp.sites.roster import Roster, SitesError, create_key, read_roster
    from dpgp.sites.site import Meeting, Site

__all__ = ["Meeting", "Roster", "Site", "SitesError", "coordinate", "create_key", "read_roster"]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "Meeting": "dpgp.sites.site",
        "Roster": "dpgp.sites.roster",
        "Site": "dpgp.sites.site",
        "SitesError": "dpgp.sites.roster",
        "coordinate": "dpgp.sites.coordinator",
        "create_key": "dpgp.sites.roster",
        "read_roster": "dpgp.sites.roster",
    },
)
