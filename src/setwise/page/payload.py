"""Responses as JSON, and so a half of the OpenAPI schema."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

Confidence = Literal["sure", "quite sure", "not sure", "a guess"]
JobState = Literal["waiting", "working", "done", "failed", "cancelled"]
Box = tuple[float, float, float, float]  # left, top, width, height as shares of a photo
StepName = Literal["reading", "looking", "comparing"]


class Problem(BaseModel):
    """An error in one sentence."""

    error: str


class Health(BaseModel):
    """One word about the server."""

    status: str


class LeftOut(BaseModel):
    """A file that cannot be used."""

    name: str
    reason: str


class ProbeSet(BaseModel):
    """The set of an answer."""

    name: str
    n_images: int


class GallerySet(ProbeSet):
    """A set of the gallery."""

    id: str
    shown: int = Field(description="Number of small pictures: 0, or one per image.")


class GalleryClass(ProbeSet):
    """A class of the gallery."""

    id: str
    cover: str | None = Field(description="Address of the photo that stands for it.")
    n_sets: int
    weak: list[str] = Field(description="Why it may be taken for others, in sentences.")
    confused_with: list[str]
    sets: list[GallerySet]


class SetPhoto(BaseModel):
    """A photo of the gallery."""

    image: int = Field(description="Its number in its set, counted from 0.")
    url: str
    name: str = Field(description="Its file, as far as it is known.")
    spot: tuple[float, float] | None = Field(
        description="Middle of the face in its photo, as shares of width and height."
    )


class ClassPhoto(SetPhoto):
    """A photo of a class."""

    set_id: str
    album: str
    doubt: float = Field(description="Above 0, it is more like a photo of another class.")
    looks_like: str | None = Field(description="The class that a doubtful photo is like.")


class ClassPhotos(BaseModel):
    """Photos of a class, doubtful ones first."""

    id: str
    name: str
    n_photos: int
    n_doubtful: int
    photos: list[ClassPhoto]
    next: int | None = Field(description="`first` of the next page, if there is one.")


class Unknown(BaseModel):
    """When a set is called unknown: target rate, and threshold of nearness."""

    rate: float
    threshold: float


class LastCommand(BaseModel):
    """The command that Undo or Redo would act on."""

    model_config = ConfigDict(from_attributes=True)
    command: str
    words: str


class HistoryLine(LastCommand):
    """One command of the history."""

    n: int
    time: str
    undone: bool


class RequestLimits(BaseModel):
    """Limits of one request."""

    model_config = ConfigDict(from_attributes=True)
    upload_bytes: int
    files: int
    seconds: float


class Overview(BaseModel):
    """The whole gallery."""

    revision: str
    file: str
    can_change: bool
    reason_it_cannot: str | None
    unknown: Unknown | None
    n_classes: int
    n_sets: int
    n_images: int
    features: list[str]
    weak_state: Literal["computing", "ready"]
    is_learning: bool = Field(description="Whether it answers by what was learnt before.")
    learnt_by: float | None = Field(description="Seconds since 1970, estimated.")
    classes: list[GalleryClass]
    can_undo: LastCommand | None
    can_redo: LastCommand | None
    inbox: bool
    into: bool
    limits: RequestLimits


class Accepted(BaseModel):
    """A job in the queue."""

    id: str
    revision: str


class StepProgress(BaseModel):
    """Progress of one step of a job."""

    name: StepName
    words: str
    state: Literal["waiting", "working", "done"]
    done: int
    total: int


class Candidate(BaseModel):
    """A class and its probability."""

    model_config = ConfigDict(from_attributes=True)
    label: str
    probability: float


class Part(BaseModel):
    """Photos of an album that show someone or something of their own."""

    label: str | None = Field(description="None for the photos that are left.")
    images: list[int] = Field(description="Photos of the part, counted from 0.")


class Question(BaseModel):
    """A question that is kept, in short."""

    id: str
    state: JobState
    name: str
    n_images: int
    asked: float = Field(description="Seconds since 1970.")
    words: list[str] = Field(description="The answer for each set, once they are there.")


class Curve(BaseModel):
    """Distribution of nearness for sets of known classes and for strangers."""

    x: list[float]
    known: list[float]
    strangers: list[float]


class Nearness(BaseModel):
    """Nearness to the nearest class; below the threshold the set is unknown."""

    value: float
    threshold: float | None
    curve: Curve | None = None


class NearestPhoto(BaseModel):
    """The most similar photo of the gallery, whatever its class."""

    set_id: str
    image: int
    url: str
    label: str
    distance: float


class ProbePhoto(BaseModel):
    """A photo of the set; counted from 0."""

    image: int
    name: str
    url: str
    box: Box | None = Field(description="The face in its photo, where it is of one.")
    nearest: NearestPhoto | None
    is_outlier: bool


class Vote(BaseModel):
    """The vote of one way of looking."""

    feature: str = Field(description='What is compared, such as "pixels" or "fine edges".')
    basis: str = Field(description='How a set is summarised, such as "mean" or "svd".')
    evidence: str = Field(description='What counts as similar, such as "clusters".')
    label: str | None = Field(description="None if it has nothing in common with any class.")
    weight: float
    is_narrow: bool = Field(description="Whether a second class is nearly as similar.")


class Answer(BaseModel):
    """The answer for one set, and the evidence."""

    set: ProbeSet
    label: str | None = Field(description="None for a stranger, and if nothing is in common.")
    most_like: str = Field(description="The nearest class, even if it is not near enough.")
    is_known: bool | None
    is_far: bool = Field(description="Unknown, but no farther than some in the gallery.")
    probability: float
    confidence: Confidence
    words: str
    reason: str = Field(description="Why, in one short sentence.")
    parts: list[Part] = Field(description="If the album shows several: its parts, else none.")
    runner_up: Candidate | None
    margin: float
    candidates: list[Candidate]
    nearness: Nearness | None
    outliers: list[int] = Field(description="Photos that do not belong, counted from 0.")
    photos: list[ProbePhoto]
    votes: list[Vote]
    notes: list[str]
    has_tree: bool


class Job(Accepted, ProbeSet):
    """A job, its progress, and its answers once it is done."""

    judged_by: str | None  # revision of the gallery that gave the answers
    state: JobState
    step: StepName
    steps: list[StepProgress]
    estimate_s: float | None
    error: str | None
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


class Done(BaseModel):
    """A command that was done."""

    revision: str
    words: str


class Change(Done):
    """A command that was asked for, and what became of it."""

    key: str
    command: str
    state: Literal["waiting", "working", "done", "failed"]
    error: str | None


class RowPhoto(BaseModel):
    """A photo of a row of the inbox."""

    image: int
    url: str
    is_outlier: bool


class InboxRow(ProbeSet):
    """One set of the inbox."""

    id: str
    state: Literal["waiting", "done", "failed", "enrolled", "transferred"]
    label: str | None
    most_like: str | None
    probability: float | None
    runner_up: Candidate | None
    candidates: list[Candidate]
    is_known: bool | None
    is_far: bool | None = Field(description="Unknown, but no farther than some in the gallery.")
    confidence: Confidence | None
    words: str
    reason: str
    parts: list[Part]
    is_part: bool = Field(description="Whether it is part of an album that was split.")
    group: int | None = Field(description="Unknown sets with one number belong together.")
    uncertainty: float = Field(description="From 0 to 1: the most uncertain sets come first.")
    decided: str | None
    outliers: list[int] = Field(description="Photos that do not belong, counted from 0.")
    without: list[int] = Field(description="Photos that will be left out.")
    photos: list[RowPhoto] = Field(description="Some of its photos.")
    boxes: list[Box | None] = Field(description="The faces in all of its photos, if of faces.")


class Inbox(BaseModel):
    """The inbox, as far as it is judged."""

    revision: str
    version: str = Field(description="For `since`: what has changed after it.")
    is_whole: bool = Field(description="Whether all rows are here.")
    state: Literal["reading", "looking", "ready", "failed"]
    error: str | None
    done: int
    total: int
    estimate_s: float | None
    left_out: list[LeftOut]
    rows: list[InboxRow]
    ids: list[str] = Field(description="Of all rows, in their order.")
