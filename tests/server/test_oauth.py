"""Access tokens of an issuer: a real one that runs on a port beside the server, and those who would like to be let in without one."""

from __future__ import annotations

import hashlib
import hmac
import http.client
import json
import time
from collections.abc import Callable

import anyio
import pytest
from test_http import ACCEPT, INITIALIZE, Served, called

from conftest import PATIENCE
from issuer_server import RESOURCE, Issuer, issuing, unsigned
from machine import rest
from smart_context.errors import ConfigError
from smart_context.server import oauth, oauth_keys
from smart_context.server.gate import Accepted, Refusal
from smart_context.settings.tables import OauthSettings

METADATA = "/.well-known/oauth-protected-resource"
TOLD = f'Bearer resource_metadata="https://search.example.org{METADATA}/mcp"'


@pytest.fixture(scope="module")
def issuer():
    with issuing() as found:
        yield found


@pytest.fixture(scope="module")
def served(tmp_path_factory, issuer):
    home = tmp_path_factory.mktemp("oauth")
    for name in ("sales", "staff"):
        (home / name).mkdir()
        (home / name / "notes.md").write_text(f"# Ships\nThe harbour of {name}.\n", encoding="utf-8")
    rules = [f"groups=sales:{home}/sales", f"realm.roles=staff:{home}/staff", "groups=everyone:*"]
    config = f'[oauth]\nissuer = "{issuer.url}"\nresource = "{RESOURCE}"\nroots = {json.dumps(rules)}\n'
    config += 'admins = ["groups=operators"]\n'
    server = Served(home, "--root", str(home / "sales"), "--root", str(home / "staff"), config=config)
    for name in ("sales", "staff"):
        called(server, "indexFolder", {"root": str(home / name)})
    yield server
    assert server.end() == 0


def asked(server: Served, token: str | None, path: str = "/mcp") -> tuple[int, str, str]:
    """What a client is answered that brings a token: status, challenge, text."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
    headers = {**ACCEPT, **({"Authorization": f"Bearer {token}"} if token is not None else {})}
    connection.request("POST" if path == "/mcp" else "GET", path, json.dumps(INITIALIZE), headers)
    answer = connection.getresponse()
    said = answer.read().decode()
    connection.close()
    return answer.status, answer.getheader("WWW-Authenticate") or "", said


def found(server: Served, token: str) -> list[str]:
    answer = called(server, "searchFiles", {"query": "harbour"}, token=token)
    return sorted(item["path"].removeprefix(str(server.home)) for item in answer["structuredContent"]["items"])


def test_a_client_without_a_token_is_told_where_to_get_one(served, issuer):
    assert asked(served, None)[:2] == (401, TOLD)
    for path in (METADATA, f"{METADATA}/mcp"):
        status, _, said = asked(served, None, path)
        assert status == 200
        assert json.loads(said) == {
            "resource": RESOURCE,
            "authorization_servers": [issuer.url],
            "bearer_methods_supported": ["header"],
            "resource_name": "Smart Context",
        }


def test_what_a_token_claims_decides_which_folders_it_sees(served, issuer):
    assert found(served, issuer.token()) == ["/sales/notes.md"]
    assert found(served, issuer.token("curve", "ES256")) == ["/sales/notes.md"]
    assert found(served, issuer.token(groups=None, realm={"roles": ["staff"]})) == ["/staff/notes.md"]
    both = ["/sales/notes.md", "/staff/notes.md"]
    assert found(served, issuer.token(realm={"roles": ["staff"]})) == both
    assert found(served, issuer.token(groups="everyone", aud=["x", RESOURCE])) == both


def test_a_call_is_logged_under_the_name_that_the_issuer_gave(served, issuer):
    found(served, issuer.token(sub="grace"))
    lines = (served.home / "index/audit.jsonl").read_text(encoding="utf-8").splitlines()
    assert json.loads(lines[-1])["caller"] == "oauth:grace"


def test_only_whose_claim_a_rule_names_may_index(served, issuer):
    answers = [
        called(served, "indexFolder", {"root": str(served.home / "sales")}, token=issuer.token(groups=groups))
        for groups in (["sales"], ["sales", "operators"])
    ]
    assert [answer.get("isError", False) for answer in answers] == [True, False]


@pytest.mark.parametrize("groups", [None, [], ["others"], {"sales": True}, 7, [["sales"]]])
def test_a_token_that_no_rule_names_sees_nothing(served, issuer, groups):
    status, _, said = asked(served, issuer.token(groups=groups))
    assert (status, said) == (403, "this token gives access to no folder here\n")


def hs256_with_the_public_key(issuer: Issuer) -> str:
    """Signed with what everybody knows, as if it were a secret."""
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    public = issuer.keys["first"].public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    head = {"alg": "HS256", "kid": "first"}
    text = unsigned(head, claims(issuer)).rpartition(".")[0]
    return unsigned(head, claims(issuer), hmac.digest(public, text.encode(), hashlib.sha256))


def claims(issuer: Issuer) -> dict[str, object]:
    return {"iss": issuer.url, "aud": RESOURCE, "sub": "ada", "exp": time.time() + 600, "groups": ["sales"]}


def with_other_claims(issuer: Issuer) -> str:
    head, _, signature = issuer.token().split(".")
    return ".".join([head, unsigned({}, {**claims(issuer), "groups": ["everyone"]}).split(".")[1], signature])


def of_a_key_that_is_not_published(issuer: Issuer) -> str:
    with issuing() as other:
        return other.token(iss=issuer.url)


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda it: unsigned({"alg": "none", "kid": "first"}, claims(it)), "algorithm"),
        (lambda it: unsigned({"alg": "None", "kid": "first"}, claims(it)), "algorithm"),
        (lambda it: unsigned({"alg": ["RS256"], "kid": "first"}, claims(it)), "algorithm"),
        (hs256_with_the_public_key, "algorithm"),
        (lambda it: it.token(algorithm="RS512"), "algorithm"),
        (lambda it: it.token("curve", "ES256", {"kid": "first"}), "does not publish"),
        (lambda it: it.token("first", "RS256", {"kid": "curve"}), "does not publish"),
        (lambda it: it.token(headers={"kid": None}), "which key"),
        (lambda it: it.token(headers={"crit": ["exp"]}), "no access token"),
        (lambda it: it.token(headers={"jwk": {"kty": "oct", "k": "AAAA"}, "kid": "x"}), "does not publish"),
        (of_a_key_that_is_not_published, "signature"),
        (with_other_claims, "signature"),
        (lambda it: it.token(aud="https://other.example.org/mcp"), "another server"),
        (lambda it: it.token(aud=None), "another server"),
        (lambda it: it.token(aud=RESOURCE + "x"), "another server"),
        (lambda it: it.token(iss="https://other.example.org"), "another issuer"),
        (lambda it: it.token(iss=it.url + "/"), "another issuer"),
        (lambda it: it.token(exp=time.time() - 60), "has ended"),
        (lambda it: it.token(exp=None), "until when"),
        (lambda it: unsigned({"alg": "RS256", "kid": "first"}, {**claims(it), "exp": "soon"}), "signature"),
        (lambda it: it.token(nbf=time.time() + 600), "not hold yet"),
        (lambda it: it.token(iat=time.time() + 600), "the clock here or the issuer's is wrong"),
        (lambda it: it.token(iat="now"), "until when"),
        (lambda _: "a.b.c", "no access token"),
        (lambda _: "..", "no access token"),
        (lambda it: it.token(groups=["sales"] * 4000), "no access token"),
    ],
)
def test_a_token_that_the_issuer_did_not_make_for_this_server_is_refused(served, issuer, make, why):
    status, challenge, said = asked(served, make(issuer))
    assert status == 401
    assert challenge.startswith(f'{TOLD}, error="invalid_token"')
    assert why in said


def test_a_name_that_could_be_somebody_elses_or_breaks_a_line_is_refused(served, issuer):
    for name in ("", " ", "a\nb", "x" * 200):
        assert asked(served, issuer.token(sub=name))[0] == 403


def test_clocks_may_differ_by_half_a_minute(served, issuer):
    now = time.time()
    assert asked(served, issuer.token(iat=now + 20, nbf=now + 20))[0] == 200
    assert asked(served, issuer.token(iat=now - 3600, exp=now - 20))[0] == 200


@pytest.mark.parametrize(
    ("ahead", "told"), [(600, "seconds behind that of"), (-600, "seconds ahead of that of"), (0, "")]
)
def test_the_log_says_that_the_clock_is_wrong(capfd, ahead, told):
    with issuing() as issuer:
        issuer.ahead = ahead
        assert statuses(checked(issuer, issuer.token)) == [200]
    said = capfd.readouterr().err
    assert told in said if told else not said


def test_a_token_that_ends_in_a_session_ends_there(served, issuer):
    for left in (1, 4, 16, 64):  # seconds; a server that gets no time may hear of a token too late
        token = issuer.token(exp=time.time() - 30 + left)  # clocks may differ by half a minute
        if asked(served, token)[0] == 200:
            break
    else:
        pytest.fail("the token never held")
    while (answer := asked(served, token))[0] == 200:
        rest()
    assert (answer[0], answer[2]) == (401, "this token has ended; ask for a new one\n")


def test_many_names_of_unknown_keys_lead_to_hardly_any_fetch(served, issuer):
    before = issuer.asked["/keys"]
    for number in range(40):
        assert asked(served, issuer.token(headers={"kid": f"unknown {number}"}))[0] == 401
    assert issuer.asked["/keys"] - before <= 1


def test_tokens_of_our_own_still_count(served):
    assert asked(served, served.token["Authorization"].removeprefix("Bearer "))[0] == 200
    assert asked(served, "sct_nobody")[:2] == (401, TOLD)


# The issuer as seen from the server, with a clock that the test moves.


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def checked(issuer: Issuer, *steps: Callable[[], str | None], **more: object) -> list[Accepted | Refusal]:
    """What becomes of the token of each step that gives one."""
    settings = OauthSettings(issuer.url, RESOURCE, roots=("groups=sales:/srv",), **more)

    async def run() -> list[Accepted | Refusal]:
        found = oauth.Issuer(settings, oauth_keys.Keys(settings, clock))
        return [await found.caller(token.encode()) for step in steps if (token := step())]

    clock = next((step.clock for step in steps if hasattr(step, "clock")), Clock())
    return anyio.run(run)


def statuses(answers: list[Accepted | Refusal]) -> list[int]:
    return [200 if isinstance(answer, Accepted) else answer.status for answer in answers]


def test_a_new_key_is_fetched_when_a_token_names_it_and_an_old_one_no_longer_counts():
    with issuing() as issuer:
        clock = Clock()
        old = issuer.token()

        def rotated() -> None:
            clock.now += oauth_keys.FLOOR
            issuer.make("second", "RSA")
            del issuer.keys["first"]

        rotated.clock = clock  # type: ignore[attr-defined]
        steps = [issuer.token, rotated, lambda: issuer.token("second"), lambda: old]
        assert statuses(checked(issuer, *steps)) == [200, 200, 401]
        assert issuer.asked["/keys"] == 2


def test_while_the_issuer_is_away_known_keys_hold_for_a_day_and_unknown_ones_fail_with_the_reason():
    with issuing() as issuer:
        clock = Clock()

        def away() -> None:
            issuer.answers |= {"/.well-known/openid-configuration": (500, {}, b""), "/keys": (500, {}, b"")}

        def later() -> None:
            clock.now += 23 * 3600

        away.clock = clock  # type: ignore[attr-defined]
        unknown = issuer.token(headers={"kid": "other"})
        steps = [issuer.token, away, later, issuer.token, lambda: unknown, later, issuer.token]
        answers = checked(issuer, *steps)
        assert statuses(answers) == [200, 200, 503, 503]
        assert isinstance(answers[-1], Refusal)
        assert answers[-1].why.endswith("/.well-known/openid-configuration answers 500")


@pytest.mark.parametrize(
    ("path", "answer", "why"),
    [
        ("/keys", (200, {}, b'{"keys":[' + b" " * 300_000 + b"]}"), "answers with more than 262,144 bytes"),
        ("/keys", (302, {"Location": "/elsewhere"}, b""), "answers 302"),
        ("/keys", (200, {}, b"[" * 100_000), "answers with what is no JSON"),
        ("/keys", (200, {}, b"[]"), "answers with what is no object"),
        ("/keys", (200, {}, b'{"keys":7}'), "is no set of keys"),
        ("/.well-known/openid-configuration", (200, {}, b'{"issuer":"https://x"}'), "is of another issuer"),
    ],
)
def test_an_issuer_that_answers_strangely_lets_nobody_in(path, answer, why):
    with issuing() as issuer:
        issuer.answers[path] = answer
        refused = checked(issuer, issuer.token)[0]
        assert isinstance(refused, Refusal)
        assert refused.status == 503
        assert refused.why.endswith(why)
        assert not issuer.asked["/elsewhere"]


def test_an_issuer_that_is_not_there_is_named():
    with issuing() as issuer:
        token = issuer.token()
    refused = checked(issuer, lambda: token)[0]
    assert isinstance(refused, Refusal)
    assert refused.status == 503
    assert refused.why.startswith(f"the issuer {issuer.url} cannot be asked for its keys: ")


@pytest.mark.filterwarnings("ignore:The RSA key is 1024 bits")
def test_short_and_private_keys_do_not_count():
    with issuing() as issuer:
        issuer.make("short", "RSA", 1024)
        told = issuer.published()
        told["keys"].append({**told["keys"][0], "kid": "private", "d": "AQAB"})
        issuer.answers["/keys"] = (200, {}, json.dumps(told).encode())
        steps = [lambda: issuer.token("short"), lambda: issuer.token(headers={"kid": "private"})]
        assert statuses(checked(issuer, *steps)) == [401, 401]


def test_a_token_must_have_the_scopes_that_are_asked_for():
    with issuing() as issuer:
        steps = [issuer.token, lambda: issuer.token(scope="read search"), lambda: issuer.token(scp=["search"])]
        answers = checked(issuer, *steps, scopes=("search",))
        assert statuses(answers) == [403, 200, 200]
        assert isinstance(answers[0], Refusal)
        assert 'error="insufficient_scope"' in answers[0].challenge
        assert 'scope="search"' in answers[0].challenge


@pytest.mark.parametrize(
    "wrong",
    [
        {"issuer": "http://localhost.example.org"},
        {"issuer": "https://"},
        {"resource": ""},
        {"resource": "https://x/mcp?a"},
        {"roots": ("sales:/srv",)},
        {"roots": ("groups=sales:srv",)},
        {"admins": ("operators",)},
        {"algorithms": ()},
    ],
)
def test_settings_that_cannot_be_are_refused_at_the_start(wrong):
    given = {"issuer": "https://login.example.org", "resource": RESOURCE, **wrong}
    with pytest.raises(ConfigError):
        oauth.Issuer(OauthSettings(**given))
