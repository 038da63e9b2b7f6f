"""The members of a committee: which there are by default, and what may be one."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone

from setwise._support.parameters import refuse
from setwise.baselines.hulls import AHISD
from setwise.baselines.kernel_sets import CDL, GDA
from setwise.baselines.simple import FrameVote, MeanCosine
from setwise.baselines.subspaces import CMSM, MSM
from setwise.classify import CVC

__all__ = ["OWN_PARAMETERS", "default_members", "named_members", "prepared_members"]

# Of the committee: no member can have these for a name.
OWN_PARAMETERS = ("members", "weights", "n_jobs", "random_state")
_EXPECTED = (
    "a list of (name, classifier) pairs, the names different, without '__' and none of them a "
    "parameter of the committee, the classifiers with get_params, fit, and decision_function "
    "or predict_proba"
)


def default_members() -> list[tuple[str, Any]]:
    """CVC, and rivals that take milliseconds and look at sets in other ways than it does."""
    return [
        ("cvc", CVC()),
        ("smallest_angle", MSM(n_angles=1)),
        ("cmsm", CMSM()),
        ("gda", GDA()),
        ("cdl", CDL("pls")),
        ("ahisd", AHISD()),
        ("frame_vote", FrameVote()),
        ("mean_cosine", MeanCosine()),
    ]


def named_members(members: Any) -> dict[str, Any]:
    """Members by name, all of them checked; None stands for those by default."""
    pairs = default_members() if members is None else members
    # No generators: they could be read but once.
    if not isinstance(pairs, list | tuple) or not pairs or not all(map(_is_member, pairs)):
        refuse("Committee", "members", _EXPECTED, pairs)
    named = dict(pairs)
    if len(named) < len(pairs):
        refuse("Committee", "members", _EXPECTED, pairs)
    return named


def prepared_members(members: Any, **given: Any) -> dict[str, Any]:
    """Copies of the members, with those of the given parameters that they leave open."""
    copies: dict[str, Any] = {
        name: clone(member) for name, member in named_members(members).items()
    }
    for member in copies.values():
        own = member.get_params(deep=False)
        left_open = [key for key in given if key in own and own[key] is None]
        member.set_params(**{key: given[key] for key in left_open})
    return copies


def _is_member(pair: Any) -> bool:
    """Whether something is a pair of a name and a classifier that can be asked about sets."""
    if not isinstance(pair, list | tuple) or len(pair) != 2:
        return False
    name, member = pair
    if not isinstance(name, str) or not name or "__" in name or name in OWN_PARAMETERS:
        return False
    can_answer = hasattr(member, "decision_function") or hasattr(member, "predict_proba")
    is_whole = can_answer and hasattr(member, "fit") and hasattr(member, "get_params")
    return is_whole and not isinstance(member, type)
