# SPDX-License-Identifier: Apache-2.0
"""Checks that the pages for users can be read in ten minutes, that README.md leads to each of them, and that links lead
to files and headings that exist."""

import functools
import re
import sys
from pathlib import Path

from problems import report

ROOT = Path(__file__).resolve().parent.parent
WORDS = 2000
REFERENCES = {"docs/cli.md", "docs/schema.md"}  # searched, not read
BLOCK = re.compile(r"^( *)```.*?^\1```$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`[^`\n]+`")
LINK = re.compile(r"\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)


def name(path):
    return path.relative_to(ROOT).as_posix()


@functools.cache
def prose(path):
    """The text without blocks of code."""
    return BLOCK.sub("", path.read_text(encoding="utf-8"))


@functools.cache
def anchors(path):
    """The names of the headings in links, as GitHub makes them."""
    titles = (re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", title) for title in HEADING.findall(prose(path)))
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def links(path):
    """(link, file, anchor) for each link to a file of this repository."""
    for target in LINK.findall(CODE.sub("", prose(path))):
        if not re.match(r"[a-z]+:", target):
            file, _, anchor = target.partition("#")
            yield target, (path.parent / file).resolve() if file else path, anchor


def problems():
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    for page in pages:
        words = len(page.read_text(encoding="utf-8").split())
        if words > WORDS and name(page) not in REFERENCES:
            yield f"{name(page)}: {words} words, more than {WORDS}; divide it, or move measurements to docs/engineering"
    linked = {file for _, file, _ in links(pages[0])}
    yield from (f"README.md: no link to {name(page)}" for page in pages[1:] if page not in linked)
    for page in [*pages, *sorted((ROOT / "docs").glob("*/**/*.md"))]:
        for target, file, anchor in links(page):
            if not file.exists():
                yield f"{name(page)}: the link {target} leads to no file"
            elif anchor and file.suffix == ".md" and anchor not in anchors(file):
                yield f"{name(page)}: the link {target} leads to no heading"


if __name__ == "__main__":
    sys.exit(report(problems()))
