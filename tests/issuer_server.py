"""An issuer of access tokens on a real port: it publishes metadata and keys, and signs what a test wants signed."""

from __future__ import annotations

import base64
import json
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, rsa

RESOURCE = "https://search.example.org/mcp"


class Issuer:
    """The issuer. `answers`: what it gives instead of its own, by path: a status, headers and a body. `ahead`: seconds that its clock is."""

    def __init__(self) -> None:
        self.keys: dict[str, Any] = {}
        self.answers: dict[str, tuple[int, dict[str, str], bytes]] = {}
        self.asked: Counter[str] = Counter()
        self.url = ""
        self.ahead = 0
        self.make("first", "RSA")
        self.make("curve", "EC")

    def make(self, name: str, kind: str, bits: int = 2048) -> None:
        """A new key under a name."""
        made = rsa.generate_private_key(65537, bits) if kind == "RSA" else ec.generate_private_key(ec.SECP256R1())
        self.keys[name] = made

    def published(self) -> dict[str, Any]:
        """The set of keys, as it is told."""
        return {"keys": [_public(name, key) for name, key in self.keys.items()]}

    def token(
        self, key: str = "first", algorithm: str = "RS256", headers: Mapping[str, Any] | None = None, **claims: Any
    ) -> str:
        """A signed token; a claim that is None is left out."""
        every = {
            "iss": self.url,
            "aud": RESOURCE,
            "sub": "ada",
            "exp": time.time() + 600,
            "groups": ["sales"],
            **claims,
        }
        kept = {name: value for name, value in every.items() if value is not None}
        said = {name: value for name, value in {"kid": key, **(headers or {})}.items() if value is not None}
        return jwt.encode(kept, self.keys[key], algorithm, said)

    def answer(self, path: str) -> tuple[int, dict[str, str], bytes]:
        """What a path gives."""
        self.asked[path] += 1
        if path in self.answers:
            return self.answers[path]
        if path == "/.well-known/openid-configuration":
            return 200, {}, json.dumps({"issuer": self.url, "jwks_uri": f"{self.url}/keys"}).encode()
        return (200, {}, json.dumps(self.published()).encode()) if path == "/keys" else (404, {}, b"")


@contextmanager
def issuing() -> Iterator[Issuer]:
    """An issuer that answers, until the end."""
    issuer = Issuer()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, headers, body = issuer.answer(self.path)
            self.send_response(status)
            for name, value in {"Content-Length": str(len(body)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def date_time_string(self, timestamp: float | None = None) -> str:
            return super().date_time_string(time.time() + issuer.ahead)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    issuer.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield issuer
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def unsigned(header: Mapping[str, Any], claims: Mapping[str, Any], signature: bytes = b"") -> str:
    """A token of any header at all."""
    parts = [json.dumps(header).encode(), json.dumps(claims).encode(), signature]
    return ".".join(base64.urlsafe_b64encode(part).rstrip(b"=").decode() for part in parts)


def _public(name: str, key: Any) -> dict[str, Any]:
    kind = jwt.algorithms.RSAAlgorithm if isinstance(key, rsa.RSAPrivateKey) else jwt.algorithms.ECAlgorithm
    return {**kind.to_jwk(key.public_key(), as_dict=True), "kid": name, "use": "sig"}
