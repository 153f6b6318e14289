"""Tokens with a mark: from how many characters after it they are hidden, and how many of the next line belong to one that is cut."""

from __future__ import annotations

import pytest

from smart_context import redact

MIXED = "q7Xk2Vz9Rw4Bt6Jf1Hp8Gd3Nc5Ms0LyQ3xK8vZ1rW6bT4jF9hP2gD7nC0mS5lYa8Ub6Ie2Oq"
HEX = "7b1f9c3e5a0d8264fb13d79ce0a4582bd16f93c7e5804a2b9d61fc37e8054ab2c9d6"
CAPITALS = "Q7XK2VZ9RW4BT6JF1HP8GD3NC5MS0LYQ3XK8VZ1RW6BT4JF9HP2GD7NC0MS5LY"

LEAST = [
    (10, MIXED, "xoxb- xoxp- xoxa- xoxr- xoxs- xoxo- xoxc- xoxd- xoxe- xoxe. xapp- xwfp- hooks.zapier.com/hooks/catch/ maker.ifttt.com/trigger/ hook.eu1.make.com/ hook.eu2.make.com/ hook.us1.make.com/"),
    (12, MIXED, "b3BlbnNzaC1rZXktdjEA MHcCAQEE MHQCAQEE MIGHAgEAMBMGByqGSM49 MIGkAgEBBD MC4CAQAwBQYDK2Vw"),
    (14, MIXED, "sk_live_ rk_live_ pk_live_ rzp_live_ live_ sk_test_ rk_test_ pk_test_ rzp_test_ test_ sk_prod_ rk_prod_"),
    (16, MIXED, "LTAI AKID AKLT YCA tskey- sm_aat_ sm_pat_ sm_sat_ glpat- gldt- glptt- glrt- glrtr- glcbt- glimt- glft- glsoat- glagent- gloas- glffct- glwt- GR1348941 NRAK- NRII- NRJS- NRRA- NRIQ-"),
    (16, CAPITALS, "AKIA ASIA ABIA ACCA"),
    (20, MIXED, "ya29. 1//0 GOCSPX- HRKU- hvs. hvb. hvr. FlyV1 fm1_ fm1a_ fm1r_ fm2_ fo1_ sbp_ sb_secret_ vcp_ vck_ vca_ vci_ vcr_ nfp_ nfc_ nfo_ nfu_ nfb_ rnd_ railway_ napi_ xau_ ddp_ ddo_ mdb_sa_sk_ CCDB1_ pscale_tkn_ pscale_pw_"),
    (20, MIXED, "ghp_ gho_ ghu_ ghs_ ghr_ ATATT3 ATCTT3 ATBB ATOAc ATSTT3 npm_ rubygems_ CLOJARS_ dckr_pat_ dckr_oat_ bkua_ bkpt_ CCIPAT_ CCIPRJ_ cio AKCp cmVmdGtu ovsxat_ sqp_ squ_ sqa_ sntrys_ sntryu_ glsa_ glc_ pnu_ pnb_ ico- snyk_ whsec_"),
    (20, MIXED, "dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit. fio-u- zpka_ unkey_ apify_api_ polar_pat_ rootly_ sindri_ lmb_ pylf_v1_ ory_pat_ esecret_ sk- r8_ gsk_ pplx- xai- nvapi- tvly- fw_ pcsk_ lsv2_ jina_ voy- pa- csk- sess- fc- ak- as- BSA"),
    (20, MIXED, "sq0atp- sq0csp- sq0idp- EAAA FLWSECK- FLWPUBK- EZAK EZTK $aact_ access_token$production$ access_token$sandbox$ hooks.slack.com/services/ hooks.slack.com/workflows/ hooks.slack.com/triggers/"),
    (20, CAPITALS, "AGE-SECRET-KEY-1"),
    (22, MIXED, "$apr1$ $1$ $2a$ $2b$ $2y$ $5$ $6$ $7$ $y$ $argon2i$ $argon2d$ $argon2id$ $scrypt$ $pbkdf2-sha256$"),
    (24, MIXED, "dt0c01. dt0s01. dt0s02. dt0s16. PMAK- PMAT- CFPAT- figd_ figo_ figu_ lin_api_ ntn_ secret_ tfp_ rdme_ aio_ dnkey- ops_ bws_ p8e- phx_ phs_ waka_ hf_ api_org_"),
    (24, CAPITALS, "API-"),
    (29, MIXED, "sk_"),
    (30, MIXED, "AQ.Ab discord.com/api/webhooks/ discordapp.com/api/webhooks/ webhook.office.com/webhookb2/ outlook.office.com/webhook/ outlook.office365.com/webhook/"),
    (32, MIXED, "v1.0- t1."),
    (32, HEX, "dop_v1_ doo_v1_ dor_v1_ dapi dose dkea pul- key- pubkey- shpat_ shpca_ shppa_ shpss_"),
    (40, MIXED, "SG."),
    (60, MIXED, "sl. sl.u. pat. sat."),
    (64, HEX, "s-s4t2ud- s-s4t2af-"),
    (65, MIXED, "1000."),
    (20, HEX, "pscale_oauth_ mergify_application_key_ FLWSECK_TEST- FLWPUBK_TEST- finch-token-production- finch-token-sandbox- pdl_sdbx_apikey_"),
    (20, MIXED, "sgp_ dtn_ apify_proxy_ polar_oat_ ory_at_"), (22, HEX, "github_pat_"), (24, HEX, "lin_oauth_"), (30, CAPITALS, "AAAAAAAAAAAAAAAAAAAAA ZXlK"), (30, HEX, "eyJ"), (32, CAPITALS, "AQVN"),
    (32, HEX, "cfut_ cfat_ y0_ xkeysib- xsmtpsib- pat-na1- pat-na2- pat-eu1- access-sandbox- access-production- access-development-"), (38, HEX, "4b1d"),
    (40, CAPITALS, "ABSK bedrock-api-key- EAAC EAAG EAAB EAAJ EAAM IGQV IGAA"), (40, HEX, "tk-us- pypi-"), (43, HEX, "sha256~ oy2"), (44, HEX, "b_"),
]  # fmt: skip
WHOLE = [("ghp_", MIXED, 36), ("AKIA", CAPITALS, 16), ("AIza", MIXED, 35), ("dop_v1_", HEX, 64), ("shpat_", HEX, 32), ("github_pat_", MIXED, 82), ("pul-", HEX, 40), ("dapi", HEX, 32), ("dose", HEX, 32), ("sha256~", MIXED, 43), ("4b1d", MIXED, 38), ("oy2", MIXED, 43), ("s-s4t2ud-", HEX, 64), ("key-", HEX, 32), ("b_", MIXED, 44)]  # fmt: skip


@pytest.mark.parametrize(("least", "body", "marks"), LEAST)
def test_a_marked_token_is_hidden_from_its_least_length_on(least, body, marks):
    for mark in marks.split():
        assert "[redacted:secret]" in redact.clean(f"see {mark}{body[:least]} now"), mark
        shorter = f"see {mark}{body[: least - 1]} now"
        assert redact.clean(shorter) == shorter


@pytest.mark.parametrize(("mark", "body", "whole"), WHOLE)
def test_of_the_next_line_as_many_characters_belong_to_a_token_as_it_lacks(mark, body, whole):
    rest = "feedfacefeedfacefeed"[: max(4, whole // 4)] if body is not CAPITALS else "ABCDE"
    begin = (body * 2)[: whole - len(rest)]
    assert redact.clean(f"see {mark}{begin}\n{rest}\nend") == "see [redacted:secret]\nend"
    assert rest in redact.clean(f"see {mark}{begin}\n{rest}{rest}{rest}\nend")
