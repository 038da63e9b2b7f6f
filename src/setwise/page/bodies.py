"""Bodies of requests as JSON, and so a half of the OpenAPI schema."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat

# Labels and ids from clients: looked up or cleaned, never a path.
Word = Annotated[str, Field(min_length=1, max_length=200)]
Place = Annotated[int, Field(ge=0, le=10_000_000)]


class Body(BaseModel):
    """Body of a command."""

    model_config = ConfigDict(extra="forbid", strict=True)
    revision: str | None = Field(
        None, max_length=64, description="The gallery as the client has seen it."
    )


class CommandBody(Body):
    """Body of a command that a client may send again."""

    key: str | None = Field(
        None,
        pattern=r"^[A-Za-z0-9_-]{8,64}$",
        description="Chosen by the client: what is sent twice under one key is done once.",
    )


class JudgeSet(BaseModel):
    """A set of vectors."""

    model_config = ConfigDict(extra="forbid")
    name: str = Field("set", max_length=200)
    vectors: list[list[FiniteFloat]] = Field(min_length=1)


class JudgeBody(BaseModel):
    """Sets of vectors, such as embeddings, to be judged."""

    model_config = ConfigDict(extra="forbid")
    sets: list[JudgeSet] = Field(min_length=1, max_length=10_000)


class EnrollBody(CommandBody):
    """Add the set of an answer to a class, which may be new."""

    job: Word
    answer: Place = 0
    label: Word
    without: list[Place] | None = Field(
        None, max_length=100_000, description="None: the photos that do not belong."
    )


class ForgetBody(CommandBody):
    """Remove a set from the gallery."""

    set_id: Word


class RemovePhotosBody(ForgetBody):
    """Remove photos from a set of the gallery."""

    images: list[Place] = Field(min_length=1, max_length=100_000)


class PhotosOfSet(BaseModel):
    """Photos of a set of the gallery."""

    model_config = ConfigDict(extra="forbid", strict=True)
    set_id: Word
    images: list[Place] = Field(min_length=1, max_length=100_000)


class MovePhotosBody(CommandBody):
    """Photos of any sets become sets of another class, which may be new; or leave."""

    photos: list[PhotosOfSet] = Field(min_length=1, max_length=10_000)
    label: Word | None = Field(description="None: they leave the gallery.")


class MoveBody(ForgetBody):
    """Move a set to another class, which may be new."""

    label: Word


class RenameBody(CommandBody):
    """Another name for a class; the name of another class makes the two one."""

    label: Word
    to: Word


class CoverBody(Body):
    """The photo that stands for a class."""

    set_id: Word
    image: Place


class DecideBody(Body):
    """Class of a set of the inbox; null takes the decision back."""

    label: Word | None
    without: list[Place] | None = Field(
        None, max_length=100_000, description="None: the photos that do not belong."
    )


class RowDecision(DecideBody):
    """A decision on one set of several."""

    id: Word


class DecideManyBody(Body):
    """Decisions on several sets, made at once."""

    decisions: list[RowDecision] = Field(min_length=1, max_length=10_000)


class ApartBody(BaseModel):
    """Sets of a group that are not one person or thing; or are, after all."""

    model_config = ConfigDict(extra="forbid", strict=True)
    ids: list[Word] = Field(min_length=1, max_length=10_000)
    is_back: bool = False


class InboxEnrollBody(CommandBody):
    """Add sets of the inbox to the classes that were decided on."""

    ids: list[Word] = Field(min_length=1, max_length=10_000)


class TransferBody(CommandBody):
    """Copy or move the files of these sets, or of all with a decision."""

    how: Literal["copy", "move"]
    ids: list[Word] | None = Field(None, max_length=10_000)
