"""The page, as text and as a browser shows it."""

import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import pytest

from inctnp.report import Journal, Record, write_report
from inctnp.report.page import render
from inctnp.report.words import summary
from tests.report.test_journal import journal_of, records

VOID = {"meta"}
BROWSER = shutil.which("chromium") or shutil.which("google-chrome") or shutil.which("chromium-browser")


class Nesting(HTMLParser):
    """Fails where tags do not close in the order they opened."""

    def __init__(self) -> None:
        super().__init__()
        self.opened: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag not in VOID:
            self.opened.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.opened.pop() == tag


@pytest.mark.parametrize("rows", [0, 1, 2, 30, 200, 900])
def test_a_stream_of_any_length_makes_a_whole_page_that_fetches_nothing(rows: int) -> None:
    page = render("pump <3> & co", journal_of(records(rows)), {"model": "<tabular>"}, ["An & alarm."])
    parser = Nesting()
    parser.feed(page)
    assert parser.opened == []
    assert not re.search(r"(src|href)\s*=|url\(|@import|<script|http", page)
    assert "pump &lt;3&gt; &amp; co" in page
    assert "&lt;tabular&gt;" in page
    assert "nan" not in page.replace("resonan", "")
    assert "inf" not in page.replace("inform", "")


def test_rows_without_outcome_are_shown_without_scores() -> None:
    journal = Journal()
    for row in range(5):
        journal.add(Record(row, None, 0.0, 1.0, -1.0, 1.0, None))
    page = render("t", journal, {}, [])
    assert "were only predicted" in page
    assert "Along the stream" not in page
    assert "class='band'" in page.replace('"', "'")


@pytest.mark.parametrize(
    ("spread", "bias", "told"),
    [
        (1.0, 0.0, "it can be taken at its word"),
        (0.5, 0.0, "too rarely"),
        (3.0, 0.0, "too often"),
        (1.0, 0.8, "fell below the middle"),
        (1.0, -0.8, "fell above the middle"),
    ],
)
def test_the_words_follow_the_numbers(spread: float, bias: float, told: str) -> None:
    assert told in " ".join(summary(journal_of(records(1500, spread=spread, bias=bias))))


def test_the_yardstick_is_repeating_the_last_outcome() -> None:
    # Of independent outcomes the mean misses by 1 and the last value by the square root of 2.
    assert "29% less than" in " ".join(summary(journal_of(records(20_000))))


def browse(folder: Path, page: Path, *words: str) -> str:
    """Let a browser that knows nobody open a page; what it writes."""
    quiet = ["--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"]
    shown = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--window-size=900,2400"]
    alone = "--host-resolver-rules=MAP * ~NOTFOUND"
    command = [str(BROWSER), *shown, *quiet, alone, f"--user-data-dir={folder / 'profile'}", *words, page.as_uri()]
    return subprocess.run(command, check=True, capture_output=True, timeout=120, text=True).stdout


@pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed: apt-get install chromium")
def test_a_browser_shows_it_and_fetches_nothing(tmp_path: Path) -> None:
    page, shot, log = (tmp_path / name for name in ("report.html", "shot.png", "net.json"))
    write_report(page, "a stream", journal_of(records(600)), {"model": "tabular"}, ["An alarm."])
    browse(tmp_path, page, f"--screenshot={shot}", f"--log-net-log={log}")
    pixels = pytest.importorskip("matplotlib.image").imread(shot)[:, :, :3]
    # The blue of lines and bars, and the green of promises, are there; nothing runs over the right edge.
    for colour in ((0x24, 0x63, 0xC5), (0x2C, 0x8C, 0x5A)):
        distance = abs(pixels * 255 - colour).max(axis=2)
        assert (distance < 24).sum() > 200
    assert (pixels[:, -10:] > 0.99).all()
    # Something is drawn at every height but below the end.
    drawn = (pixels < 0.9).any(axis=(1, 2))
    assert all(drawn[top : top + 100].any() for top in range(0, 2000, 100))
    # What the browser looks for on its own account has no origin; what a page asks for has.
    assert set(re.findall(r'"initiator":"([^"]+)"', log.read_text())) <= {"not an origin"}
    dom = browse(tmp_path, page, "--dump-dom")
    assert dom.count("<svg") == dom.count("</svg>") == 8
    assert "600 rows were predicted" in dom
    assert "An alarm." in dom
