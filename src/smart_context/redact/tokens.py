"""Find tokens that their issuer marks: a known prefix, or a shape nothing else has.

In: folded text.  Out: where tokens stand.
Always: each prefix is looked for as a plain substring first; a pattern runs only where its prefix stands.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from smart_context.redact import values, wrap

_ALNUM = re.compile(r"[A-Za-z0-9]{1,4096}+")
_WORD = re.compile(r"[A-Za-z0-9_]{1,4096}+")
_DASH = re.compile(r"[A-Za-z0-9_\-]{1,4096}+")
_DOT = re.compile(r"[A-Za-z0-9_\-.]{1,4096}+")
_B64 = re.compile(r"[A-Za-z0-9+/_\-]{1,4096}+={0,3}")
_CAPS = re.compile(r"[A-Z0-9]{1,4096}+")
_HEX = re.compile(r"[0-9a-fA-F]{1,4096}+")
_ANY = re.compile(r"[A-Za-z0-9_\-.:+/=~$]{1,4096}+")
_PATH = re.compile(r"[A-Za-z0-9_\-./?=&%:@]{1,4096}+")


@dataclass(frozen=True, slots=True)
class _Marked:
    """Tokens with a prefix. least: of characters after it. whole: their exact number, where the issuer fixes it."""

    prefix: str
    body: re.Pattern[str]
    least: int
    whole: int | None = None


@dataclass(frozen=True, slots=True)
class _Family:
    """Tokens that are alike, and what all their prefixes hold."""

    sign: str
    members: tuple[_Marked, ...]


def _all(prefixes: str, body: re.Pattern[str], least: int, whole: int | None = None, *, sign: str = "") -> _Family:
    return _Family(sign, tuple(_Marked(prefix, body, least, whole) for prefix in prefixes.split()))


_MARKED: tuple[_Family, ...] = (
    # clouds
    _all("AKIA ASIA ABIA ACCA", _CAPS, 16, 16),
    _all("ABSK bedrock-api-key-", _B64, 40),
    _all("LTAI AKID", _ALNUM, 16),
    _all("AIza", _DASH, 30, 35),
    _all("AQ.Ab", _DASH, 30),
    _all("ya29. 1//0 GOCSPX-", _DASH, 20),
    _all("dop_v1_ doo_v1_ dor_v1_", _HEX, 32, 64, sign="_v1_"),
    _all("HRKU-", _DASH, 20),
    _all("hvs. hvb. hvr.", _DASH, 20, sign="hv"),
    _all("dapi", _HEX, 32, 32),
    _all("pul-", _HEX, 32, 40),
    _all("tskey-", _DASH, 16),
    _all("FlyV1 fm1_ fm2_ fo1_", _B64, 20),
    _all("sbp_ sb_secret_ vcp_ vck_ vca_ nfp_ rnd_ railway_", _WORD, 20),
    _all("cfut_ cfat_ v1.0-", _DASH, 32),
    _all("y0_ AQVN t1.", _DOT, 32),
    _all("pscale_tkn_ pscale_pw_ pscale_oauth_", _DOT, 20, sign="pscale_"),
    _all("dt0c01. dt0s01.", _DOT, 24, sign="dt0"),
    _all("sha256~", _DASH, 43, 43),
    # code hosting, packages, delivery
    _all("ghp_ gho_ ghu_ ghs_ ghr_", _ALNUM, 20, 36, sign="gh"),
    _all("github_pat_", _WORD, 22, 82),
    _all("glpat- gldt- glptt- glrt- glcbt- glimt- glft- glsoat- glagent- gloas- glffct- glwt-", _DOT, 16, sign="gl"),
    _all("GR1348941", _DOT, 16),
    _all("ATATT3 ATCTT3 ATBB ATOAc", _ANY, 20),
    _all("npm_ rubygems_ CLOJARS_ dckr_pat_ dckr_oat_ bkua_ CCIPAT_ CCIPRJ_ cio AKCp cmVmdGtu", _DASH, 20),
    _all("pypi-AgE pypi-", _DASH, 40),
    _all("oy2", _ALNUM, 43, 43),
    _all("sqp_ squ_ sqa_ sntrys_ sntryu_ glsa_ glc_ pnu_ ico- snyk_ whsec_", _B64, 20),
    _all("sl.", _DASH, 60),
    _all("dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.", _DOT, 20, sign="dp."),
    _all("NRAK- NRII- NRJS- NRRA- NRIQ-", _DASH, 16, sign="NR"),
    _all("PMAK- PMAT- CFPAT- figd_ figo_ lin_api_ lin_oauth_ ntn_ secret_ tfp_ rdme_ aio_ dnkey- ops_ bws_", _DASH, 24),
    # models
    _all("sk-ant- sk-proj- sk-svcacct- sk-admin- sk-or-v1- sk-lf- sk-", _DASH, 20, sign="sk-"),
    _all("hf_ api_org_", _ALNUM, 24),
    _all("r8_ gsk_ pplx- xai- nvapi- tvly- fw_ pcsk_ lsv2_pt_ lsv2_sk_ jina_ voy- csk- sess-", _DASH, 20),
    # messages
    _all("xoxb- xoxp- xoxa- xoxr- xoxs- xoxo- xoxc- xoxd- xoxe- xoxe.", _DOT, 10, sign="xox"),
    _all("xapp- xwfp-", _DOT, 10),
    _all("SG.", _DOT, 40),
    _all("xkeysib- xsmtpsib-", _DASH, 32),
    _all("key-", _HEX, 32, 32),
    _all("EAAC EAAG EAAB EAAJ", _ALNUM, 40, sign="EAA"),
    _all("IGQV", _ALNUM, 40),
    _all("AAAAAAAAAAAAAAAAAAAAA", _B64, 30),
    # money and shops
    _all("sk_live_ rk_live_ pk_live_ rzp_live_", _ALNUM, 14, sign="_live_"),
    _all("sk_test_ rk_test_ pk_test_ rzp_test_", _ALNUM, 14, sign="_test_"),
    _all("shpat_ shpca_ shppa_ shpss_", _HEX, 32, 32, sign="shp"),
    _all("sq0atp- sq0csp- sq0idp- EAAA FLWSECK- FLWSECK_TEST- shippo_live_ shippo_test_ EZAK EZTK", _DASH, 20),
    _all("access_token$production$ access_token$sandbox$", _ANY, 20, sign="access_token$"),
    _all("pat-na1- pat-na2- pat-eu1- access-sandbox- access-production- access-development-", _DASH, 32),
    # signed tokens and bare keys
    _all("eyJ", _DOT, 30),
    _all("sk.eyJ pk.eyJ", _DOT, 40),
    _all("AGE-SECRET-KEY-1", _CAPS, 20),
    _all("b3BlbnNzaC1rZXktdjEA MHcCAQEE MHQCAQEE MIGHAgEAMBMGByqGSM49 MIGkAgEBBD MC4CAQAwBQYDK2Vw", _B64, 12),
    _all("$apr1$ $1$ $2a$ $2b$ $2y$ $5$ $6$ $7$ $y$ $argon2i$ $argon2d$ $argon2id$ $scrypt$ $pbkdf2-sha256$", _ANY, 22, sign="$"),
    # addresses that are themselves the key
    _all("hooks.slack.com/services/ hooks.slack.com/workflows/ hooks.slack.com/triggers/", _PATH, 20, sign="hooks.slack.com/"),
    _all("discord.com/api/webhooks/ discordapp.com/api/webhooks/", _PATH, 30, sign="/webhooks/"),
    _all("hooks.zapier.com/hooks/catch/ maker.ifttt.com/trigger/ hook.eu1.make.com/ hook.us1.make.com/", _PATH, 10),
    _all("webhook.office.com/webhookb2/ outlook.office.com/webhook/ outlook.office365.com/webhook/", _PATH, 30, sign="/webhook"),
)  # fmt: skip
_PLAIN = frozenset({"AKIA", "ASIA", "ABIA", "ACCA"})  # 16 capitals without a digit are still an access key

_RSA = "IBA"
_OPEN_ENDED = frozenset({":AA", ":APA91b", ".", ".atlasv1.", "sig=", "X-Goog-Signature="})
# Not inside a word; an escaped line break (as in JSON) is no word.
_FREE = r"(?:(?<![A-Za-z0-9_\-.~])|(?<=\\[nrt])|(?<=%[0-9A-F][0-9A-F]))"
# Shapes without a prefix: (cheap literal that must be present, the fewest characters, pattern whose first group is the secret)
_SHAPED: tuple[tuple[str, int, str], ...] = (
    ("SK", 34, _FREE + r"(SK[0-9a-f]{32})(?![A-Za-z0-9])"),  # Twilio
    ("AC", 34, _FREE + r"(AC[0-9a-f]{32})(?![A-Za-z0-9])"),
    ("-us", 36, _FREE + r"([0-9a-f]{32}-us[0-9]{1,2})(?![A-Za-z0-9])"),  # Mailchimp
    (":AA", 41, r"(?<![0-9])([0-9]{8,10}:AA[A-Za-z0-9_\-]{30,40}+)"),  # Telegram
    (":APA91b", 76, _FREE + r"([A-Za-z0-9_\-]{8,60}:APA91b[A-Za-z0-9_\-]{60,300}+)"),  # Firebase
    (".", 58, _FREE + r"([MNO][\w\-]{22,27}\.[\w\-]{6,7}\.[\w\-]{27,45})(?![\w\-])"),  # Discord
    ("Q~", 37, _FREE + r"([\w~.\-]{3}[0-9]Q~[\w~.\-]{31,34})(?![\w~\-]|\.\w)"),  # Azure AD
    (".atlasv1.", 63, _FREE + r"([A-Za-z0-9]{14}\.atlasv1\.[\w\-=]{40,90}+)"),  # Terraform
    ("AZDO", 84, _FREE + r"([A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4})(?![A-Za-z0-9])"),  # Azure DevOps
    ("pat", 82, _FREE + r"(pat[A-Za-z0-9]{14}\.[0-9a-f]{64})(?![A-Za-z0-9])"),  # Airtable
    (_RSA, 13, r"(?<![A-Za-z0-9+/])(MII[A-Za-z0-9+/]{1,6}IBA[A-Za-z0-9+/]{6,4096}+={0,2})"),  # RSA, bare
    ("amzn.mws.", 45, r"(amzn\.mws\.[0-9a-f\-]{36})"),
    ("sig=", 25, r"[?&;\s\"']sig=([A-Za-z0-9%+/=_\-]{20,200}+)"),  # Azure shared access signatures
    ("X-Amz-Signature=", 80, r"X-Amz-Signature=([0-9a-f]{64})"),
    ("X-Goog-Signature=", 81, r"X-Goog-Signature=([0-9a-fA-F]{64,1024}+)"),
)  # fmt: skip
_LONG = re.compile(r"(?<!\S)\S{10,}+")
_VERY_LONG = re.compile(r"(?<!\S)\S{25,}+")  # as the shortest of the shapes that may go over a line break
_MIXED = re.compile(r"[0-9]|[a-z][A-Z]|[A-Z]{4}")
_AFTER_BREAK = re.compile(r"\n[^\n\w]*$")
_OPENS = re.compile(r"(?:\\[nrt]|%[0-9A-Fa-f]{2})$")


def find(text: str) -> Iterator[tuple[int, int]]:
    """Yield where tokens stand."""
    words = [word for word in _LONG.finditer(text) if _MIXED.search(word[0])]
    if not words:
        return
    # A token that a line break cuts may begin with a short word; then every prefix is looked for everywhere.
    cut = any(word.start() == 0 or _AFTER_BREAK.search(text, max(0, word.start() - 12), word.start()) for word in words)
    pool = text if cut else "\n".join(word[0] for word in words)
    for family in _MARKED:
        if family.sign in pool:
            for marked in family.members:
                if marked.prefix in pool:
                    yield from _marked(text, marked)
    for start, end, _ in _shaped(text, words):
        yield start, end
    if "\n" in text:
        yield from _shaped_over_lines(text)


def _shaped(text: str, words: list[re.Match[str]]) -> Iterator[tuple[int, int, str]]:
    shapes = [shape for shape in _SHAPED if shape[0] in text]
    for word in words:
        length = word.end() - word.start()
        for literal, least, pattern in shapes:
            if length >= least and literal in word[0]:
                for match in _compiled(pattern).finditer(text, *word.span()):
                    if literal == _RSA:
                        yield match.start(1), wrap.follow(text, match.end(1), _B64), literal
                    elif values.is_random(match[1]):
                        yield *match.span(1), literal


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.ASCII)


def _shaped_over_lines(text: str) -> Iterator[tuple[int, int]]:
    joined = wrap.joined(text)
    words = [word for word in _VERY_LONG.finditer(joined.text) if joined.over_break(*word.span())]
    for start, end, literal in _shaped(joined.text, words):
        whole = joined.over_break(start, end)
        # Of a shape without a fixed length, a plain word on the next line is no part.
        if (
            whole
            and literal != _RSA
            and (literal not in _OPEN_ENDED or values.is_random(text[slice(*whole)].rsplit(None, 1)[-1]))
        ):
            yield whole


def _marked(text: str, marked: _Marked) -> Iterator[tuple[int, int]]:
    prefix, at = marked.prefix, 0
    anywhere = len(prefix) > 4 and not prefix.isalnum()
    while (start := text.find(prefix, at)) >= 0:
        at = start + len(prefix)
        if not anywhere and start and _sticks(text[start - 1]) and not _OPENS.search(text, max(0, start - 3), start):
            continue
        end, is_token = _end(text, at, marked)
        if is_token:
            yield start, end
        at = max(at, end)


def _sticks(c: str) -> bool:
    return c.isascii() and c.isalnum()


def _end(text: str, start: int, marked: _Marked) -> tuple[int, bool]:
    """Where what follows a prefix ends, and whether it is a token."""
    body = marked.body.match(text, start)
    end = body.end() if body else start
    had = end - start
    if had >= 4096:  # the rest of an endless run goes with it
        while more := marked.body.match(text, end):
            end = more.end()
        return end, True
    whole = end
    if marked.whole is None or had < marked.whole:
        missing = None if marked.whole is None else marked.whole - had
        whole = wrap.follow(text, end, marked.body, missing, lacking=marked.least - had)
    if whole == end:  # a full stop after a token ends the sentence; only before a line break may it be the token's own
        while whole > start and text[whole - 1] in ".:?":
            whole -= 1
    found = "".join(text[start:whole].split())
    return whole, len(found) >= marked.least and (marked.prefix in _PLAIN or values.is_random(found))
