"""An earlier model that a fit starts from: public already, so that nothing of it has a price."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from dpgp.study.errors import RefusedError, Words

if TYPE_CHECKING:
    from dpgp.inference.earlier import Earlier
    from dpgp.model.fitted import FittedModel
    from dpgp.options import Options


@dataclass(frozen=True)
class PriorModel:
    """Which model it was; the model itself is there while the fit is made, and in no file."""

    id: str
    model: FittedModel | None = field(default=None, repr=False, compare=False)

    @classmethod
    def of(cls, given: Any) -> PriorModel:
        """Return a model, or that of a fitted estimator or of a file."""
        if isinstance(given, cls):
            return given
        from sklearn.exceptions import NotFittedError

        from dpgp.checked_values import ModelFileError
        from dpgp.model.file import load
        from dpgp.model.fitted import fitted_model

        if not isinstance(given, str | os.PathLike):
            try:
                model = fitted_model(given)
            except (TypeError, NotFittedError):
                raise RefusedError(
                    f"`prior_model` must be a fitted model, not {type(given).__name__}",
                    Words("pass an estimator that was fitted, a model, or its file"),
                    code="no-prior_model",
                ) from None
            return cls(model.id, model)
        try:
            model = load(given)
        except (OSError, ModelFileError) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            raise RefusedError(
                f"the earlier model '{os.fspath(given)}' cannot be read: {reason or error}",
                Words("pass a model, or its file", "name a file that dpgp fit wrote"),
                code="no-prior_model",
            ) from None
        return cls(model.id, model)

    @property
    def named(self) -> PriorModel:
        """Its name alone."""
        return replace(self, model=None)

    def check(self, options: Options) -> None:
        """Raise where a fit with these options cannot start from it; say what differs."""
        if self.model is not None:
            from dpgp.pooling.update import check_updatable

            check_updatable(self.model, options)

    @property
    def earlier(self) -> Earlier:
        """What it told, for a fit to start from."""
        if self.model is None:
            raise ValueError("a fit starts from a model, not from its name.")
        from dpgp.pooling.update import EarlierReleases

        return EarlierReleases(self.model)
