"""What goes over the wire: every request and response, and so the OpenAPI schema."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

__all__ = [
    "ActDone", "Answer", "Asked", "Candidate", "Carried", "CarryBody", "ClassOnWall", "Curve",
    "DecideBody", "EnrollBody", "ForgetBody", "GalleryOnWall", "InboxEnrollBody", "InboxNow",
    "InboxRow", "JournalLine", "LastAct", "LeftOut", "LimitsNow", "NearestPhoto", "Nearness",
    "OutOfPlace", "PhotoOfAnswer", "Problem", "Question", "RenameBody", "SetOfAnswer",
    "SetOnWall", "StepNow", "TakeOutBody", "Tree", "TreeClass", "TreeNode", "UndoBody",
    "UnknownNow", "Vote",
]  # fmt: skip

# Labels and ids of clients: looked up or cleaned, never a path.
Word = Annotated[str, Field(min_length=1, max_length=200)]
Place = Annotated[int, Field(ge=0, le=10_000_000)]


class _Body(BaseModel):
    """What a client sends: nothing that is not known here."""

    model_config = ConfigDict(extra="forbid", strict=True)
    revision: str | None = Field(None, max_length=64, description="What the client has seen.")


class Problem(BaseModel):
    """What went wrong, in one clear sentence."""

    error: str


# --------------------------------------------------------------------------- the wall


class SetOnWall(BaseModel):
    """A set of the gallery."""

    id: str
    name: str
    n_images: int
    shown: int = Field(description="How many small pictures there are: 0 to this minus 1.")


class ClassOnWall(BaseModel):
    """A class of the gallery."""

    name: str
    n_sets: int
    n_images: int
    weak: list[str] = Field(description="Why it may be taken for others, in sentences.")
    confused_with: list[str]
    sets: list[SetOnWall]


class UnknownNow(BaseModel):
    """When a set is called unknown."""

    rate: float
    threshold: float


class LastAct(BaseModel):
    """What could be undone, or done again."""

    act: str
    words: str


class LimitsNow(BaseModel):
    """What one request may hold."""

    upload_bytes: int
    files: int
    seconds: float


class GalleryOnWall(BaseModel):
    """The whole gallery."""

    revision: str
    file: str
    can_change: bool
    reason_it_cannot: str | None
    unknown: UnknownNow | None
    n_classes: int
    n_sets: int
    n_images: int
    features: list[str]
    weak_state: Literal["computing", "ready"]
    classes: list[ClassOnWall]
    can_undo: LastAct | None
    can_redo: LastAct | None
    inbox: bool
    into: bool
    limits: LimitsNow


# --------------------------------------------------------------------------- questions


class Asked(BaseModel):
    """A question that waits for its turn."""

    id: str
    revision: str


class StepNow(BaseModel):
    """One step of the work on a question."""

    name: Literal["reading", "looking", "comparing"]
    words: str
    state: Literal["waiting", "working", "done"]
    done: int
    total: int


class LeftOut(BaseModel):
    """A file that could not be used."""

    name: str
    reason: str


class SetOfAnswer(BaseModel):
    """The set that was asked about."""

    name: str
    n_images: int


class Candidate(BaseModel):
    """A class, and how probable it is."""

    label: str
    probability: float


class Curve(BaseModel):
    """How near sets of known classes, and strangers, usually are."""

    x: list[float]
    known: list[float]
    strangers: list[float]


class Nearness(BaseModel):
    """How near the set is to the nearest class; below the threshold it is unknown."""

    value: float
    threshold: float | None
    curve: Curve | None


class OutOfPlace(BaseModel):
    """A photo that does not seem to belong to its set; counted from 0."""

    image: int
    why: str


class NearestPhoto(BaseModel):
    """The photo of the gallery that a photo is most like."""

    set_id: str
    image: int
    url: str
    label: str
    distance: float


class PhotoOfAnswer(BaseModel):
    """A photo of the set; counted from 0."""

    image: int
    name: str
    url: str
    nearest: NearestPhoto | None
    is_out_of_place: bool


class Vote(BaseModel):
    """What one look at the set says."""

    member: str
    words: str
    label: str | None
    weight: float


class Answer(BaseModel):
    """What the gallery says of one set, and why."""

    set: SetOfAnswer
    label: str | None = Field(description="None for a stranger, and where nothing is known.")
    most_like: str = Field(description="The nearest class, whether or not it is near enough.")
    is_known: bool | None
    probability: float
    confidence: Literal["sure", "quite sure", "not sure", "a guess"]
    words: str
    runner_up: Candidate | None
    margin: float
    candidates: list[Candidate]
    nearness: Nearness | None
    out_of_place: list[OutOfPlace]
    photos: list[PhotoOfAnswer]
    votes: list[Vote]
    notes: list[str]
    has_tree: bool


class Question(BaseModel):
    """A question, how far the work on it is, and its answers."""

    id: str
    revision: str
    state: Literal["waiting", "working", "done", "failed", "cancelled"]
    step: Literal["reading", "looking", "comparing"]
    steps: list[StepNow]
    estimate_s: float | None
    error: str | None
    name: str
    n_images: int
    n_left_out: int
    left_out: list[LeftOut]
    answers: list[Answer]


class TreeClass(BaseModel):
    """A class in a node, and its share of the gallery's part."""

    label: str
    share: float


class TreeNode(BaseModel):
    """One node of the tree of cuts."""

    id: int
    parent: int | None
    depth: int
    n_images_gallery: int
    share_probe: float
    classes: list[TreeClass]
    stopped_because: str | None
    ncut: float | None


class Tree(BaseModel):
    """The tree of cuts of the most telling layer."""

    nodes: list[TreeNode]
    layer: str
    words: str


# --------------------------------------------------------------------------- acts


class EnrollBody(_Body):
    """Add the set of an answer to a class, which may be new."""

    ask: Word
    answer: Place = 0
    label: Word
    without: list[Place] = Field(default_factory=list, max_length=100_000)


class ForgetBody(_Body):
    """Take a set out of the gallery."""

    set_id: Word


class TakeOutBody(_Body):
    """Take photos out of a set of the gallery."""

    set_id: Word
    images: list[Place] = Field(min_length=1, max_length=100_000)


class RenameBody(_Body):
    """Move a set to another class, which may be new."""

    set_id: Word
    label: Word


class UndoBody(_Body):
    """Take the last act back, or do it again."""


class ActDone(BaseModel):
    """What was done."""

    revision: str
    words: str


class JournalLine(BaseModel):
    """One act."""

    n: int
    time: str
    act: str
    words: str
    undone: bool


# --------------------------------------------------------------------------- the inbox


class InboxRow(BaseModel):
    """One set of the inbox."""

    id: str
    name: str
    n_images: int
    state: Literal["waiting", "done", "failed", "enrolled", "carried"]
    label: str | None
    most_like: str | None
    probability: float | None
    runner_up: Candidate | None
    candidates: list[Candidate]
    is_known: bool | None
    confidence: Literal["sure", "quite sure", "not sure", "a guess"] | None
    words: str
    teaches: float = Field(description="How much a decision on it would teach, from 0 to 1.")
    decided: str | None
    photos: list[str]


class InboxNow(BaseModel):
    """The inbox, as far as it has been looked at."""

    revision: str
    state: Literal["reading", "looking", "ready", "failed"]
    error: str | None
    done: int
    total: int
    estimate_s: float | None
    left_out: list[LeftOut]
    rows: list[InboxRow]


class DecideBody(_Body):
    """Whose a set of the inbox is; null takes the decision back."""

    label: Word | None


class InboxEnrollBody(_Body):
    """Enroll these sets of the inbox, each in the class that was decided on."""

    ids: list[Word] = Field(min_length=1, max_length=10_000)


class CarryBody(_Body):
    """Copy or move the files of these sets, or of all that were decided on."""

    how: Literal["copy", "move"]
    ids: list[Word] | None = Field(None, max_length=10_000)


class Carried(BaseModel):
    """What was carried."""

    revision: str
    words: str
    n_files: int
