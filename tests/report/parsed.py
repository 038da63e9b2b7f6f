"""HTML taken apart with nothing but the standard library."""

from __future__ import annotations

from html.parser import HTMLParser

VOID = {"meta", "img", "br", "input", "link", "hr"}


class Parsed(HTMLParser):
    """Tags with attributes in order, text by the tag it is in, and whether all tags close."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.outside_pictures: list[str] = []
        self.texts: list[tuple[str, str]] = []
        self.declarations: list[str] = []
        self.comments: list[str] = []
        self.mistakes: list[str] = []
        self._open: list[str] = []
        self.feed(page)
        self.close()
        self.mistakes += [f"<{tag}> is never closed" for tag in self._open]

    def handle_starttag(self, tag, attrs):
        self._note(tag, attrs)
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self._note(tag, attrs)

    def handle_endtag(self, tag):
        if not self._open or self._open[-1] != tag:
            self.mistakes.append(f"</{tag}> where {self._open[-1:]} is open")
        else:
            self._open.pop()

    def handle_data(self, data):
        self.texts.append((self._open[-1] if self._open else "", data))

    def handle_decl(self, decl):
        self.declarations.append(decl)

    def handle_comment(self, data):
        self.comments.append(data)

    def _note(self, tag, attrs):
        names = [name for name, _ in attrs]
        if len(set(names)) < len(names):
            self.mistakes.append(f"<{tag}> has an attribute twice: {names}")
        self.tags.append((tag, dict(attrs)))
        if "svg" not in self._open:
            self.outside_pictures.append(tag)

    def all_of(self, tag):
        return [attributes for name, attributes in self.tags if name == tag]

    def text_in(self, *tags):
        return "".join(text for tag, text in self.texts if not tags or tag in tags)

    def shown(self):
        """All text but of script and style."""
        return "".join(text for tag, text in self.texts if tag not in ("script", "style"))
