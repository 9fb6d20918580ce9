#!/bin/bash
# SPDX-License-Identifier: MIT
# The page of a prediction has its words, the rows of all tables and of nested ones, and nothing that a capture's text
# could make it load or run.
. "$GM_TOP/tests/occ/common.sh"

# A variable, and a function, whose names are markup; symbols may contain any bytes.
instrumented cases gcc
objcopy=$(command -v objcopy) || skip "needs objcopy"
"$objcopy" --redefine-sym 'lock=<img src=x onerror=alert(1)>&"' -w cases.o 2>/dev/null || skip "objcopy cannot rename"
gcc -o cases cases.o "${access_link[@]}" || fail "cannot link with the name"
record_all accesses ./cases counter >out 2>&1 || fail "$(cat out)"
"$gprof_mt" predict occ --cost 10 --format html -o page.html accesses >out 2>err || fail "$(cat out err)"
[ ! -s out ] || fail "standard output: $(cat out)"
"$gprof_mt" predict occ --cost 10 --format html -o - accesses >page2.html 2>err || fail "$(cat err)"
cmp -s page.html page2.html || fail "another page on standard output"
"$gprof_mt" predict occ --cost 10 --format json accesses >got 2>err || fail "$(cat err)"
python3 - <<'END' || fail "see above"
import html.parser, json

got = json.load(open("got"))
text = open("page.html").read()


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.tags, self.words = [], set(), []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        assert not [a for a, _ in attrs if a in ("src", "href") or a.startswith("on")], attrs
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag

    def handle_data(self, data):
        self.words.append(data.strip())


page = Page()
page.feed(text)
assert not page.open, page.open
assert not page.tags & {"script", "img", "iframe", "link", "object"}, page.tags
row = got["occ"][0]
for expected in (row["name"], "lock", str(row["acquired"]), f"{row['waits']:.2f}", row["sites"][0]["site"],
                 f"{row['threads'][0]['occ_speedup']:.2f}", "locations", "cache lines"):
    assert expected in page.words, expected
assert any(w.startswith("Optimistic concurrency would") for w in page.words)
assert "onerror" in row["name"], row["name"]
END
