"""An entry in the form of the public registry of deployments of differential privacy.

The form is schemas/deployments-schema.yaml of github.com/opendp/deployments-registry-data, as of
commit 057e5d81cf60.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from dpgp.privacy.rounding import text_up

if TYPE_CHECKING:
    from dpgp.model.fitted import FittedModel
    from dpgp.privacy.certificate import Certificate

FORM = "opendp/deployments-registry-data, schemas/deployments-schema.yaml, commit 057e5d81cf60"
CURATOR_TYPES = ("Government", "Industry", "Nonprofit")


def registry_entry(
    model: FittedModel,
    *,
    name: str,
    curator: str,
    curator_type: str,
    intended_use: str,
    region: str,
    author: str,
) -> dict[str, Any]:
    """Return the entry of a private model; what no file can know is asked for."""
    if not model.certificate.is_private:
        raise ValueError("a simulation is not private and belongs in no registry of deployments.")
    if curator_type not in CURATOR_TYPES:
        raise ValueError(f"`curator_type` must be one of {', '.join(CURATOR_TYPES)}.")
    return {
        "url_slug": re.sub(r"\W+", "-", f"{name} {curator}".lower()).strip("-"),
        "deployment": {
            "basic": {
                "name": name,
                "data_curators": [
                    {"data_curator_name": curator, "data_curator_type": curator_type}
                ],
                "description": _description(model),
                "intended_use": intended_use,
                "data_product_type": "Machine learning model",
                "data_product_region": region,
                "publication_date": datetime.now(UTC).strftime("%Y-%m-%d"),
            },
            "dp_variant": _variant(model),
            "privacy_loss": _loss(model.certificate),
            "deployment_model": _deployment(),
            "implementation": _implementation(model.certificate),
            "administrative": {"status": "Draft", "registry_authors": [author], "tier": 3},
        },
    }


def _description(model: FittedModel) -> str:
    return (
        f"Gaussian-process regression of {', '.join(model.target_names)} on "
        f"{', '.join(model.input_names)}, with predictive uncertainty."
    )


def _variant(model: FittedModel) -> dict[str, str]:
    columns = "; ".join(
        f"{name} ({role}) in [{low}, {high}]" for name, role, low, high in model.column_rows()
    )
    counted = "The number of records." if model.options.row_count_is_public else "None."
    return {
        "variant_name": "Approximate DP",
        "data_domain": f"Tables with the columns {columns}; values outside are clipped.",
        "unprotected_quantities": counted,
    }


def _loss(certificate: Certificate) -> dict[str, Any]:
    return {
        "privacy_unit": "Person" if certificate.protects_persons else "Record",
        "privacy_unit_details": f"{certificate.relation} {certificate.unit.capitalize()}.",
        "privacy_parameters": {
            "epsilon": float(certificate.epsilon),
            "delta": float(certificate.delta),
        },
        "privacy_parameters_details": _parameters(certificate),
    }


def _parameters(certificate: Certificate) -> str:
    if certificate.mu is None:
        return "One event."
    return f"Gaussian differential privacy with mu = {text_up(certificate.mu)}, converted once."


def _deployment() -> dict[str, str]:
    return {
        "model_name": "Central",
        "trust_assumptions": "The curator holds the raw data and is trusted with them. Everybody "
        "who sees the model is not trusted, whatever else they know.",
        "release_type": "One release",
        "data_source_type": "Static",
        "access_type": "Non-interactive",
    }


def _implementation(certificate: Certificate) -> dict[str, str]:
    releases = "; ".join(str(release) for release in certificate.releases)
    return {
        "preprocessing_and_hyperparameter_tuning": "Bounds are public and not read from the data. "
        "Hyperparameters are learned from the noisy releases, at no further privacy loss.",
        "mechanisms": f"Discrete Gaussian noise on exact integer sums. {_made_by(certificate)} "
        "Rows are rounded to a grid of integers, and sums are exact, so that no floating-point "
        f"number is released that was not an integer before. Releases: {releases}.",
        "composition": "Gaussian mechanisms compose adaptively to the root of the sum of squares.",
        "post_processing": "The model is computed from the noisy sums alone.",
    }


def _made_by(certificate: Certificate) -> str:
    if certificate.provenance is None:
        return ""
    versions = ", ".join(f"{name} {version}" for name, version in certificate.provenance.versions)
    return f"Noise: {certificate.provenance.random_source}. Software: {versions}."
