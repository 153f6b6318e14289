"""What a Kubernetes secret holds is hidden, whatever its keys are called; other manifests stay as they are."""

from __future__ import annotations

import pytest

from redaction_cases import masked
from smart_context import redact

DATA = "WngBODFraXR0ZW4K"
HIDDEN = [
    f"apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\ntype: Opaque\ndata:\n  user: ⟦YWRtaW4=⟧\n  db: ⟦{DATA}⟧\n  'odd.key': \"⟦{DATA}⟧\"\n---\napiVersion: v1\nkind: ConfigMap\ndata:\n  color: blue2\n",
    f"apiVersion: v1\ndata:\n  user: ⟦YWRtaW4=⟧\n  db: ⟦{DATA}⟧\nkind: Secret\nmetadata:\n  name: db\n",
    "kind: Secret\nstringData:\n  admin: ⟦walrus kitten⟧\n  url: {{ .Values.url }}\n  empty: ''\ntype: Opaque\n",
    f'{{"apiVersion": "v1", "data": {{"user": "⟦YWRtaW4=⟧", "db": "⟦{DATA}⟧"}}, "kind": "Secret", "type": "Opaque"}}',
    f"items:\n- apiVersion: v1\n  data:\n    db: ⟦{DATA}⟧\n  kind: Secret\n- apiVersion: v1\n  data:\n    color: blue2\n  kind: ConfigMap\n",
    f"kind: Secret\napiVersion: v1\ndata:\n  db: ⟦{DATA}⟧\n---\nkind: ConfigMap\napiVersion: v1\ndata:\n  color: blue2\n---\nkind: Secret\napiVersion: v1\ndata:\n  db: ⟦{DATA}⟧\n",
    f"kind: List\nitems:\n- kind: 'Secret'\n  apiVersion: v1\n  data:\n    db: ⟦{DATA}⟧\n- kind: ConfigMap\n  apiVersion: v1\n  data:\n    color: blue2\n",
    f"apiVersion: v1\nkind: Secret\ndata:\n  # of January\n  db: ⟦{DATA}⟧\n\n{{{{- if .Values.x }}}}\n  a: ⟦YWRtaW4=⟧\nmetadata:\n  data:\n    color: blue2\n",
    f'kind: Secret\nstringData:\n  conf: |\n    ⟦user jane⟧\n    ⟦"x": 12,⟧\n  key: !!binary >-\n    ⟦{DATA}⟧\n    ⟦{DATA}⟧\n  a:\n    ⟦walrus⟧\n  b: ⟦"two⟧\n    ⟦lines"⟧\ntype: Opaque\n',
    f'{{"kind": "Secret", "apiVersion": "v1", "metadata": {{"name": "x"}}, "data": {{"db": "⟦{DATA}⟧", "b": "⟦a\\"bcd⟧"}}}}, {{"kind": "ConfigMap", "apiVersion": "v1", "data": {{"color": "blue2"}}}}',
]  # fmt: skip


@pytest.mark.parametrize("text", HIDDEN)
def test_every_value_of_a_secret_is_hidden(text):
    plain, shown = masked(text)
    assert redact.clean(plain) == shown


@pytest.mark.parametrize(
    "text",
    [
        "apiVersion: v1\nkind: ConfigMap\ndata:\n  color: blue2\n  size: large\n",
        "apiVersion: v1\nkind: Secret\nmetadata:\n  name: db-secret\n  labels:\n    app: web2\n",
        "a kind: secret gardens\ndata: of many\n  kinds\n", "kind: SecretStore\ndata:\n  color: blue2\n", "kind: ConfigMap\napiVersion: v1\ndata:\n  color: blue2\n---\nkind: Secret\napiVersion: v1\ntype: Opaque\n",
        '{"kind": "ConfigMap", "data": {"color": "blue2"}}, {"kind": "Secret"}',
    ],
)  # fmt: skip
def test_other_manifests_stay(text):
    assert redact.clean(text) == text
