"""The marks of issuers in their tokens: prefixes, and shapes that nothing else has.

Always: a row of `MARKED` says what follows a prefix; a row of `SHAPED` is looked for where its sign stands, and nowhere else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from smart_context.data import dataclass

_ALNUM = re.compile(r"[A-Za-z0-9]{1,4096}+")
_WORD = re.compile(r"[A-Za-z0-9_]{1,4096}+")
_DASH = re.compile(r"[A-Za-z0-9_\-]{1,4096}+")
_DOT = re.compile(r"[A-Za-z0-9_\-.]{1,4096}+")
B64 = re.compile(r"[A-Za-z0-9+/_\-]{1,4096}+={0,3}")
_CAPS = re.compile(r"[A-Z0-9]{1,4096}+")
_HEX = re.compile(r"[0-9a-fA-F]{1,4096}+")
_ANY = re.compile(r"[A-Za-z0-9_\-.:+/=~$]{1,4096}+")
_PATH = re.compile(r"[A-Za-z0-9_\-./?=&%:@]{1,4096}+")


@dataclass(frozen=True, slots=True)
class Marked:
    """Tokens with a prefix. least: of characters after it. whole: their exact number, where the issuer fixes it."""

    prefix: str
    body: re.Pattern[str]
    least: int
    whole: int | None = None

    @property
    def may_hold_words(self) -> bool:
        """Whether what follows need not look generated: sixteen capitals of an access key, the path of an address."""
        return self.prefix in _PLAIN or "/" in self.prefix

    @property
    def is_weak(self) -> bool:
        """Whether names of programs have that prefix as well."""
        return self.prefix in _WEAK

    @property
    def oddness(self) -> float:
        """How mixed what follows must be at the least, as `values.oddness` counts."""
        return 0.3 if self.is_weak else 0.1


def _all(prefixes: str, body: re.Pattern[str], least: int, whole: int | None = None) -> Iterator[Marked]:
    """Tokens that are alike but for their prefix."""
    return (Marked(prefix, body, least, whole) for prefix in prefixes.split())


_PLAIN = frozenset({"AKIA", "ASIA", "ABIA", "ACCA"})
SHORT_MARKS = {mark.lower(): mark for mark in sorted(_PLAIN)}
"""Marks of tokens so short that a space may leave no long word of them; by the sign that tells them."""
# Marks that names of programs have as well.
_WEAK = frozenset(
    "test_ live_ test_pub_ live_pub_ sk_ b_ pa- ak- as- fc- secret_ pat. sat. t1. y0_ cio BSA API- sl. 1000. sess- fw_".split()  # noqa: SIM905
)
MARKED: tuple[Marked, ...] = (
    # clouds
    *_all("AKIA ASIA ABIA ACCA", _CAPS, 16, 16),
    *_all("ABSK bedrock-api-key-", B64, 40),
    *_all("LTAI AKID AKLT YCAJ YCA", _DASH, 16),
    *_all("AIza", _DASH, 30, 35),
    *_all("AQ.Ab", _DASH, 30),
    *_all("ya29. 1//0 GOCSPX-", _DASH, 20),
    *_all("dop_v1_ doo_v1_ dor_v1_", _HEX, 32, 64),
    *_all("HRKU-", _DASH, 20),
    *_all("hvs. hvb. hvr.", _DASH, 20),
    *_all("dapi", _HEX, 32, 32),
    *_all("dose dkea", _HEX, 32, 32),
    *_all("pul-", _HEX, 32, 40),
    *_all("tskey-", _DASH, 16),
    *_all("FlyV1 fm1_ fm1a_ fm1r_ fm2_ fo1_", B64, 20),
    *_all("sbp_ sb_secret_ vcp_ vck_ vca_ vci_ vcr_ nfp_ nfc_ nfo_ nfu_ nfb_ rnd_ railway_ napi_ xau_ ddp_ ddo_ mdb_sa_sk_ CCDB1_", _DASH, 20),
    *_all("cfut_ cfat_ v1.0-", _DASH, 32),
    *_all("y0_ AQVN t1.", _DOT, 32),
    *_all("pscale_tkn_ pscale_pw_ pscale_oauth_", _DOT, 20),
    *_all("dt0c01. dt0s01. dt0s02. dt0s16.", _DOT, 24),
    *_all("sha256~", _DASH, 43, 43),
    *_all("4b1d", _ALNUM, 38, 38),
    *_all("tk-us-", _DASH, 40),
    *_all("sm_aat_ sm_pat_ sm_sat_", _ALNUM, 16),
    # code hosting, packages, delivery
    *_all("ghp_ gho_ ghu_ ghs_ ghr_", _ALNUM, 20, 36),
    *_all("github_pat_", _WORD, 22, 82),
    *_all("glpat- gldt- glptt- glrt- glrtr- glcbt- glimt- glft- glsoat- glagent- gloas- glffct- glwt-", _DOT, 16),
    *_all("GR1348941", _DOT, 16),
    *_all("ATATT3 ATCTT3 ATBB ATOAc ATSTT3", _ANY, 20),
    *_all("npm_ rubygems_ CLOJARS_ dckr_pat_ dckr_oat_ bkua_ bkpt_ CCIPAT_ CCIPRJ_ cio AKCp cmVmdGtu ovsxat_ mergify_application_key_", _DASH, 20),
    *_all("pypi-AgE pypi-", _DASH, 40),
    *_all("oy2", _ALNUM, 43, 43),
    *_all("sqp_ squ_ sqa_ sntrys_ sntryu_ glsa_ glc_ pnu_ pnb_ ico- snyk_ whsec_ sgp_ dtn_", B64, 20),
    *_all("sl. sl.u.", _DASH, 60),
    *_all("dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.", _DOT, 20),
    *_all("NRAK- NRII- NRJS- NRRA- NRIQ-", _DASH, 16),
    *_all("PMAK- PMAT- CFPAT- figd_ figo_ figu_ lin_api_ lin_oauth_ ntn_ secret_ tfp_ rdme_ aio_ dnkey- ops_ bws_ p8e- phx_ phs_ waka_", _DASH, 24),
    *_all("pat. sat.", _DOT, 60),
    *_all("s-s4t2ud- s-s4t2af-", _HEX, 64, 64),
    *_all("fio-u- zpka_ unkey_ apify_api_ apify_proxy_ polar_pat_ polar_oat_ rootly_ sindri_ lmb_ pylf_v1_ xd_live_ ory_pat_ ory_at_ esecret_", _DASH, 20),
    *_all("API-", _CAPS, 24),
    # models
    *_all("sk-ant- sk-proj- sk-svcacct- sk-admin- sk-or-v1- sk-lf- sk-", _DASH, 20),
    *_all("hf_ api_org_", _ALNUM, 24),
    *_all("r8_ gsk_ pplx- xai- nvapi- tvly- fw_ pcsk_ lsv2_pt_ lsv2_sk_ lsv2_ jina_ voy- pa- csk- sess- fc- ak- as- BSA", _DASH, 20),
    # messages
    *_all("xoxb- xoxp- xoxa- xoxr- xoxs- xoxo- xoxc- xoxd- xoxe- xoxe.", _DOT, 10),
    *_all("xapp- xwfp-", _DOT, 10),
    *_all("SG.", _DOT, 40),
    *_all("xkeysib- xsmtpsib-", _DASH, 32),
    *_all("key- pubkey-", _HEX, 32, 32),
    *_all("EAAC EAAG EAAB EAAJ EAAM", _ALNUM, 40),
    *_all("IGQV IGAA", _ALNUM, 40),
    *_all("AAAAAAAAAAAAAAAAAAAAA", B64, 30),
    *_all("1000.", _DOT, 65),
    *_all("b_", _DASH, 44, 44),
    # money and shops
    *_all("sk_live_ rk_live_ pk_live_ rzp_live_ live_pub_ live_", _DASH, 14),
    *_all("sk_test_ rk_test_ pk_test_ rzp_test_ test_pub_ test_ sk_prod_ rk_prod_", _DASH, 14),
    *_all("sk_", _ALNUM, 29),
    *_all("shpat_ shpca_ shppa_ shpss_", _HEX, 32, 32),
    *_all("sq0atp- sq0csp- sq0idp- EAAA FLWSECK- FLWSECK_TEST- FLWPUBK- FLWPUBK_TEST- shippo_live_ shippo_test_ EZAK EZTK duffel_live_ duffel_test_ finch-token-production- finch-token-sandbox- pdl_live_apikey_ pdl_sdbx_apikey_ $aact_", _DASH, 20),
    *_all("access_token$production$ access_token$sandbox$", _ANY, 20),
    *_all("pat-na1- pat-na2- pat-eu1- access-sandbox- access-production- access-development-", _DASH, 32),
    # signed tokens and bare keys
    *_all("eyJ ZXlK", _DOT, 30),
    *_all("sk.eyJ pk.eyJ", _DOT, 40),
    *_all("AGE-SECRET-KEY-1", _CAPS, 20),
    *_all("b3BlbnNzaC1rZXktdjEA MHcCAQEE MHQCAQEE MIGHAgEAMBMGByqGSM49 MIGkAgEBBD MC4CAQAwBQYDK2Vw", B64, 12),
    *_all("$apr1$ $1$ $2a$ $2b$ $2y$ $5$ $6$ $7$ $y$ $argon2i$ $argon2d$ $argon2id$ $scrypt$ $pbkdf2-sha256$", _ANY, 22),
    # addresses that are themselves the key
    *_all("hooks.slack.com/services/ hooks.slack.com/workflows/ hooks.slack.com/triggers/", _PATH, 20),
    *_all("discord.com/api/webhooks/ discordapp.com/api/webhooks/", _PATH, 30),
    *_all("hooks.zapier.com/hooks/catch/ maker.ifttt.com/trigger/ hook.eu1.make.com/ hook.eu2.make.com/ hook.us1.make.com/", _PATH, 10),
    *_all("webhook.office.com/webhookb2/ outlook.office.com/webhook/ outlook.office365.com/webhook/", _PATH, 30),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Shape:
    """A token without a prefix. sign: what it surely holds. form: from the sign on. before: what stands before the sign, "" for nothing.

    fixed: whether its length is known, so that the next line can be told from its end. lead: whether what stands before belongs to it.
    """

    sign: str
    before: str
    form: str
    fixed: bool = True
    lead: bool = True

    def patterns(self) -> tuple[re.Pattern[str] | None, re.Pattern[str]]:
        """What stands before the sign, and what stands from it on."""
        return (_compiled(self.before + "$") if self.before else None), _compiled(self.form)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.ASCII)


RSA = "MII"
REACH = 80  # characters before a sign that may belong to a token
# Not inside a word; an escaped line break (as in JSON) is no word.
_FREE = r"(?:(?<![A-Za-z0-9_\-.~+/])|(?<=\\[nrt])|(?<=%[0-9A-F][0-9A-F]))"
_END = r"(?![A-Za-z0-9])"
SHAPED: tuple[Shape, ...] = (
    Shape("SK", _FREE, r"SK[0-9a-f]{32}" + _END),  # Twilio
    Shape("AC", _FREE, r"AC[0-9a-f]{32}" + _END),
    Shape("-us", _FREE + r"[0-9a-f]{32}", r"-us[0-9]{1,2}" + _END),  # Mailchimp
    Shape("-", _FREE + r"[0-9a-f]{32}", r"-[0-9a-f]{8}-[0-9a-f]{8}(?![A-Za-z0-9\-])"),  # Mailgun
    Shape(":A", r"(?<![0-9])[0-9]{6,16}", r":A[A-Za-z0-9_\-]{32,40}+", fixed=False),  # Telegram
    Shape(":APA91b", _FREE + r"[A-Za-z0-9_\-]{8,60}", r":APA91b[A-Za-z0-9_\-]{60,300}+", fixed=False),  # Firebase
    Shape(".", _FREE + r"[MNO][\w\-]{22,27}", r"\.[\w\-]{6,7}\.[\w\-]{27,45}(?![\w\-])", fixed=False),  # Discord
    Shape("Q~", _FREE + r"[\w~.\-]{3}[0-9]", r"Q~[\w~.\-]{31,34}(?![\w~\-]|\.\w)"),  # Azure AD
    Shape(".atlasv1.", _FREE + r"[A-Za-z0-9]{14}", r"\.atlasv1\.[\w\-=]{40,90}+", fixed=False),  # Terraform
    Shape("AZDO", _FREE + r"[A-Za-z0-9]{76}", r"AZDO[A-Za-z0-9]{4}" + _END),  # Azure DevOps
    Shape("==", _FREE + r"[A-Za-z0-9+/]{54}[A-Za-z0-9+/]{32}", r"==(?!=)"),  # 64 bytes: Azure storage, Kraken
    Shape("pat", _FREE, r"pat[A-Za-z0-9]{14}\.[0-9a-f]{64}" + _END),  # Airtable
    Shape("|", r"(?<![0-9])[0-9]{15,16}", r"\|[0-9A-Za-z_\-]{27,40}(?![\w\-])"),  # Facebook
    Shape("A3-", _FREE, r"A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}" + _END),  # 1Password
    Shape("_mmk", _FREE + r"[A-Za-z0-9]{6}_[A-Za-z0-9]{29}", r"_mmk" + _END),  # MaxMind
    Shape(".acc", _FREE + r"(?:sc|ext|scauth|authress)_[a-z0-9]{5,30}\.[a-z0-9]{4,6}", r"\.acc[_\-][a-z0-9\-]{10,32}\.[A-Za-z0-9+/_=\-]{30,120}+", fixed=False),  # Authress
    Shape("AAAAAAAAAA", _FREE + r"[a-z0-9]{11}", r"A{10}[A-Za-z0-9\-_=]{43}" + _END),  # Dropbox
    Shape("00", _FREE, r"00[\w\-]{40}(?![\w\-=])"),  # Okta
    Shape(RSA, r"(?<![A-Za-z0-9+/])", r"MII[A-Za-z0-9+/]{1,6}IBA[A-Za-z0-9+/]{6,4096}+={0,2}", fixed=False),  # RSA, bare
    Shape("amzn.mws.", "", r"amzn\.mws\.[0-9a-f\-]{36}"),
    Shape("sig=", r"[?&;\s\"']", r"sig=[A-Za-z0-9%+/=_\-]{20,200}+", fixed=False, lead=False),  # Azure shared access signatures
    Shape("X-Amz-Signature=", "", r"X-Amz-Signature=[0-9a-f]{64}"),
    Shape("X-Goog-Signature=", "", r"X-Goog-Signature=[0-9a-fA-F]{64,1024}+", fixed=False),
)  # fmt: skip
LONG = 34
"""Characters that a token of a shape has at the least, in one word; but for `SHORT`."""
SHORT = frozenset({RSA, "sig="})
SHORTEST = 13
"""Characters that one of these has at the least."""
MARKS = (*(marked.prefix for marked in MARKED), *(shape.sign for shape in SHAPED))
"""What a token of any of them surely holds."""
BY_PREFIX = {row.prefix: [other for other in MARKED if other.prefix == row.prefix] for row in MARKED}
"""The rows of `MARKED` for each prefix."""
