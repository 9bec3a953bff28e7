"""HTML as tests read it."""

from __future__ import annotations

from html.parser import HTMLParser

VOID = {"br", "hr", "img", "meta"}


class Reader(HTMLParser):
    """The text of some HTML; a tag that is not closed, or not opened, is an error."""

    def __init__(self, source):
        super().__init__()
        self.open, self.text, self.tags = [], "", set()
        self.feed(source)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.open += [] if tag in VOID else [tag]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data
