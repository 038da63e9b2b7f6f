"""The page of one's own albums: what it says, and what it never does."""

import base64
import hashlib
import re
from dataclasses import replace

import numpy as np
import pytest
from tests.conftest import toy_sets
from tests.report.made_albums import HOSTILE, NAMES, STRANGE, Albums
from tests.report.parsed import Parsed

from setwise import CVC, SetBatch
from setwise.classify.judge import Inference, judge
from setwise.errors import DataError
from setwise.report import judge_and_explain, render_answers, write_answers


@pytest.fixture(scope="module")
def parsed(page):
    return Parsed(page)


def words(html: str) -> str:
    """All text on one line."""
    texts = (text for tag, text in Parsed(html).texts if tag not in ("script", "style"))
    line = " ".join(" ".join(texts).split())
    return re.sub(r" (?=[.,;:])", "", line)


def part(html: str, start: str, end: str) -> str:
    return re.search(re.escape(start) + ".*?" + re.escape(end), html, re.DOTALL).group()


def page_of(html: str, i: int) -> str:
    return part(html, f'<article class="probe-page" id="set-{i + 1}"', "</article>")


def row_of(html: str, i: int) -> str:
    return part(html, f'<tr id="row-set-{i + 1}"', "</tr>")


def test_page_is_well_formed_and_links_lead_somewhere(parsed):
    assert parsed.mistakes == []
    ids = [attributes["id"] for _, attributes in parsed.tags if "id" in attributes]
    assert len(set(ids)) == len(ids)
    assert {one["href"][1:] for one in parsed.all_of("a")} <= set(ids)


def test_nothing_is_asked_of_the_network(page, parsed):
    for _, attributes in parsed.tags:
        for name in ("src", "href", "action", "data", "poster", "srcset"):
            value = attributes.get(name) or "#"
            assert value.startswith(("#", "data:image/png;base64,", "data:image/jpeg;base64,"))
    assert not re.search(r"@import|url\((?!#)|https?://", page)
    assert not parsed.all_of("link")


def test_policy_lets_this_script_run_and_no_other(parsed):
    (policy,) = [
        one["content"]
        for one in parsed.all_of("meta")
        if one.get("http-equiv") == "Content-Security-Policy"
    ]
    digest = hashlib.sha256(parsed.text_in("script").encode()).digest()
    assert f"script-src 'sha256-{base64.b64encode(digest).decode()}'" in policy
    assert "default-src 'none'; img-src data:" in policy
    assert len(parsed.all_of("script")) == 1


def test_what_needs_a_look_comes_first(parsed):
    rows = [one["id"] for one in parsed.all_of("tr") if one.get("id", "").startswith("row-")]
    assert rows[:2] == ["row-set-3", "row-set-2"]  # the unsure one, then the unknown one
    assert set(rows[2:4]) == {"row-set-1", "row-set-5"}  # photos out of place
    pages = [one["id"] for one in parsed.all_of("article")]
    assert [f"row-{one}" for one in pages] == rows


def test_the_top_counts_sets_and_photos(page):
    text = words(part(page, '<dl class="glance">', "</dl>"))
    for expected in ("Known 4 of 6", "Unsure 1 ", "Unknown 1 ", "Out of place 6 photos"):
        assert expected in f"{text} "
    assert "in 3 sets" in text


def test_unknown_is_said_in_row_and_page(page, albums):
    label = albums.answers[1].nearest
    assert f"unknown most like {label}" in words(row_of(page, 1))
    assert f"It is most like {label}." in words(page_of(page, 1))
    assert "0." not in words(row_of(page, 1))  # its probability would mean nothing
    assert "unknown" not in words(row_of(page, 0))


def test_photos_out_of_place_are_marked_exactly_and_named(page, albums):
    for i in range(len(albums.probes)):
        own = page_of(page, i)
        tiles = part(own, '<ol class="tiles">', "</ol>")
        marked = [j for j, tag in enumerate(re.findall(r"<li[^>]*>", tiles)) if "out" in tag]
        assert marked == ([] if i % 2 else list(STRANGE))
        named = re.findall(r"<li title=\"([^\"]*)\">([^<]*)</li>", own)
        files = albums.probes.of_set(i).files
        assert named == ([] if i % 2 else [(files[j], f"IMG_{j}.jpg") for j in STRANGE])


def test_pages_show_the_thumbnails_that_were_given(page, albums):
    tiles = part(page_of(page, 3), '<ol class="tiles">', "</ol>")
    for thumbnail in albums.probes.of_set(3).thumbnails:
        assert base64.b64encode(thumbnail).decode() in tiles


def test_times_are_told_from_first_to_last(page):
    assert "8 photos · 2024-05-01 23:59 to 2024-05-02 00:06" in words(page_of(page, 0))
    assert "8 photos · 2024-05-02 00:07 to 00:14" in words(page_of(page, 1))


def test_answer_and_runner_up_stand_beside_each_other(page, albums):
    answer = albums.answers[2]
    alike = part(page_of(page, 2), '<div class="alike">', '<p class="legend">')
    said = words(alike)
    assert f"{answer.label}, the answer" in said
    assert f"{answer.runner_up}, the runner-up" in said
    first, second = alike.split("the runner-up")
    for html, label in ((first, answer.label), (second, answer.runner_up)):
        assert html.count('class="couple"') == 4
        inside = [n for n in albums.gallery.sets.names if f"· {n}, IMG_" in words(html)]
        assert inside
        assert all(name.startswith(f"{label}/") for name in inside)


def test_all_is_there_without_javascript(parsed):
    """Only controls hide without a script; no set, page or text does."""
    hidden = [(tag, one) for tag, one in parsed.tags if "needs-js" in (one.get("class") or "")]
    assert {tag for tag, _ in hidden} <= {"div", "button"}
    assert not any("hidden" in attributes for _, attributes in parsed.tags)
    assert len(parsed.all_of("details")) == 6  # one per set, and folds need no script


def test_words_that_are_no_plain_english_are_explained(page):
    inner = words(part(page_of(page, 0), '<details class="block inner">', "</details>"))
    assert "member" not in inner
    assert "layer" not in inner
    for word in ("column", "vote", "cluster", "NCut", "distance", "SNR"):
        assert word in inner.split("All votes")[0], word


def test_names_never_become_part_of_the_page(hostile_page, albums):
    parsed = Parsed(hostile_page)
    assert parsed.mistakes == []
    assert len(parsed.all_of("script")) == 1
    for tag, attributes in parsed.tags:
        for name, value in attributes.items():
            assert not name.startswith("on"), (tag, name)
            if name in ("id", "href", "for", "aria-labelledby", "data-filters"):
                assert re.fullmatch(r"#?[A-Za-z0-9_-]+", value), value
            if name == "style":
                assert not re.search(r"[<>{}\\]|alert|日", value)
    shown = parsed.shown()
    for name in HOSTILE:
        assert name in shown
        assert f"IMG_2{' '.join(HOSTILE)}.jpg".rpartition("/")[2] in shown
    assert "49" not in re.findall(r"שלום (\S+)", shown)


def test_truth_marks_right_and_wrong_and_wrong_ones_come_first(albums):
    truth = [answer.label for answer in albums.answers]
    truth[4], truth[1], truth[5] = truth[0], "somebody else", None
    html = render_answers(
        albums.gallery, albums.probes, albums.answers, truth=truth, most_pages=1
    )
    rows = re.findall(r'<tr id="row-set-(\d)"', html)
    assert rows[0] == "5"
    assert f"✗ wrong: it is {truth[4]}" in words(row_of(html, 4))
    assert f"✗ That is wrong: it is {truth[4]}." in words(page_of(html, 4))
    assert "✓ right" in words(row_of(html, 1))  # unknown, and so it is
    assert not re.search("right|wrong", words(row_of(html, 5)))
    assert "Right 4 of 5" in words(part(html, '<dl class="glance">', "</dl>"))
    table = part(html, '<table class="confusion">', "</table>")
    assert len(re.findall('class="wrong-answer"', table)) == 1
    assert "unknown" in words(table)


def test_without_truth_nothing_is_said_to_be_wrong(page):
    assert "confusion" not in page.split("</style>")[1].split("<script>")[0]
    assert "wrong" not in words(page)


def without_origins(albums):
    gallery = replace(albums.gallery, sets=albums.gallery.sets.replaced(origins=None))
    return Albums(gallery, albums.probes.replaced(origins=None), albums.answers)


def test_without_files_photos_are_numbered_and_made_from_pixels(albums):
    given = without_origins(albums)
    html = render_answers(given.gallery, given.probes, given.answers, most_pages=1)
    text = words(page_of(html, 2))
    assert "photo 3 photo 6" in text
    assert "jpeg" not in html
    assert html.count("data:image/png") > 8
    assert "8 photos" in text


def test_what_is_no_jpeg_is_not_shown_as_one(albums):
    origins = albums.probes.origins
    lying = (b"<svg onload=alert(1)>",) * len(origins)
    probes = albums.probes.replaced(origins=replace(origins, thumbnails=lying))
    html = render_answers(albums.gallery, probes, albums.answers, most_pages=0)
    assert base64.b64encode(lying[0]).decode() not in html
    assert "data:image/png" in html


def test_embeddings_have_bars_and_a_strip(tmp_path):
    sets, labels = toy_sets(0)
    classifier = CVC(dims=(1, 2), weights=None, random_state=0).fit(sets[3:], labels[3:] * 7)
    probes = SetBatch.from_list(sets[:1], ["only one"])
    answers = list(classifier.judge(probes))
    html = render_answers(classifier.gallery_, probes, answers)
    text = words(html)
    assert "1 set of" in text
    assert "photo" not in text
    assert html.count("<img ") == 1  # the strip
    assert "not checked" in text  # whether its class is unknown
    assert "How probable" in text
    assert "Most alike" not in text


def test_a_gallery_without_vectors_says_that_it_has_no_photos(albums):
    gallery = replace(albums.gallery)
    object.__setattr__(gallery, "has_vectors", False)
    html = render_answers(gallery, albums.probes, albums.answers, most_pages=1)
    assert "Most alike" not in words(html)
    assert "The gallery was saved without its photos" in words(page_of(html, 2))


def test_no_answer_is_said_so(albums):
    answers = [replace(albums.answers[0], is_informed=False, runner_up=None)]
    html = render_answers(albums.gallery, albums.probes[[0]], answers)
    assert "no answer" in words(row_of(html, 0))
    assert "nothing in common with anything in the gallery" in words(page_of(html, 0))
    assert "Most alike" not in words(html)


def test_of_many_sets_those_that_need_a_look_have_pages_and_the_page_says_so(albums):
    done = []
    html = render_answers(
        albums.gallery, albums.probes, albums.answers,
        most_pages=2, progress=lambda *step: done.append(step),
    )  # fmt: skip
    assert re.findall(r'<article [^>]*id="([^"]*)"', html) == ["set-3", "set-2"]
    assert "The 2 sets that most need a look have a page of their own" in words(html)
    assert html.count("<tr id=") == 6
    assert "<a href" not in row_of(html, 5)
    assert done == [("explain", 0, 2), ("explain", 1, 2), ("explain", 2, 2)]


def test_it_is_written_whole_or_not_at_all(albums, tmp_path):
    file = write_answers(
        tmp_path / "new" / "report.html", albums.gallery, albums.probes, albums.answers,
        title="Our albums", command="setwise identify", left_out=["a.heic: not supported"],
        most_pages=0,
    )  # fmt: skip
    text = words(file.read_text(encoding="utf-8"))
    for expected in ("Our albums", "setwise identify", "a.heic: not supported", *NAMES):
        assert expected in text
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="cannot be written"):
        write_answers(
            tmp_path / "file" / "x.html", albums.gallery, albums.probes, albums.answers,
            most_pages=0,
        )  # fmt: skip


def test_answers_and_explanations_come_from_one_look_at_each_set(albums, monkeypatch):
    looked, look = [], Inference.of
    monkeypatch.setattr(Inference, "of", lambda *a, **k: looked.append(a) or look(*a, **k))
    answers, whys = judge_and_explain(albums.gallery, albums.probes)
    render_answers(albums.gallery, albums.probes, answers, explanations=whys)
    assert len(looked) == len(albums.probes) == len(whys)
    for answer, judged, why in zip(
        answers, judge(albums.gallery, albums.probes), whys.values(), strict=True
    ):
        np.testing.assert_array_equal(answer.probabilities, judged.probabilities)
        np.testing.assert_array_equal(answer.probabilities, why.probabilities)
        assert (answer.name, answer.label) == (judged.name, judged.label)


def test_answers_of_other_sets_are_refused(albums):
    with pytest.raises(DataError, match=r"2 answers for 6 sets. Expected one per set"):
        render_answers(albums.gallery, albums.probes, albums.answers[:2])
    with pytest.raises(DataError, match=r"1 labels in truth for 6 sets"):
        render_answers(albums.gallery, albums.probes, albums.answers, truth=["flat"])


def test_a_page_shows_the_unlabelled_sets_that_carried_the_label(albums):
    names, answers = albums.probes.names, list(albums.answers)
    answers[4] = replace(answers[4], carried_by=((names[5], 0.5), ("<elsewhere>", 0.25)))
    html = render_answers(albums.gallery, albums.probes, answers)
    assert Parsed(html).mistakes == []
    section = part(page_of(html, 4), '<ul class="carriers">', "</section>")
    assert '<a href="#row-set-6">' in section
    assert '<span class="name">&lt;elsewhere&gt;</span>' in section
    assert section.count("<img") == 5  # of the set in the list; the other has no photos here
    assert "25 % came from labelled sets directly" in words(section)
    assert 'class="carriers"' not in page_of(html, 3)
