"""Calibrate the int8 quantisation of an encoder: measure the inputs of its matrix products (`bert` says how they are used).

In: an encoder in floats, and its tokens of a text.  Out: for each product, the largest magnitude of each channel of its input.
Always: the result depends on the model alone, not on the processor: it is computed in float64, and only powers of two are derived from it. So machines that
prepare the same weights get the same model, to the byte, and can share vectors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

if TYPE_CHECKING:
    from smart_context.meaning.bert import Array

RUNS = 3  # of the texts, from different beginnings, each as long as the model reads, so that late positions are measured too
_TEXTS = (
    "The committee met on Tuesday to discuss the budget for the coming year, and agreed to postpone the decision until the auditors had reported.",
    'def read_lines(path):\n    with open(path, encoding="utf-8") as file:\n        return [line.rstrip() for line in file if not line.startswith("#")]',
    "for (int i = 0; i < n; i++) { sum += a[i] * b[i]; } return sum / (double)n;",
    "how do I convert a list of strings to integers in python",
    "What causes high blood pressure in older people?",
    "| id | name | price | stock |\n| 17 | bolt M8 | 0.35 | 1200 |",
    "2024-03-18 07:41:09 ERROR worker-3 connection to 10.0.0.12:5432 timed out after 30000 ms",
    "Die Lieferung erfolgt innerhalb von vierzehn Tagen nach Eingang der Zahlung; Mängel sind unverzüglich anzuzeigen.",
    "Le conseil municipal a adopté le projet de rénovation de la gare, malgré l'opposition des riverains.",
    "El paciente presenta fiebre y dolor abdominal desde hace tres días.",
    "The protein binds to the receptor and inhibits the growth of tumour cells in mice (p < 0.05, n = 24).",
    "An algorithm is presented for the solution of large sparse systems of linear equations; its convergence is proved and its running time compared with that of earlier methods.",
    "SELECT name, COUNT(*) FROM orders WHERE total > 100 GROUP BY name ORDER BY 2 DESC;",
    '{"version": 3, "enabled": true, "paths": ["/var/log", "~/notes"], "limit": null}',
    "Preheat the oven to 180 degrees, mix the flour with the butter, and bake for forty minutes.",
    "Dear Ms Keller, thank you for your letter of 4 May. Please find the signed contract enclosed. Kind regards, Tom",
    "3.14159 2.71828 1.41421 0.57721 -40 1e-9 42 1,000,000",
    "# Installation\n\n- Download the archive\n- Unpack it with `tar xzf app.tar.gz`\n- Run `./configure && make install`",
    "https://example.org/docs/index.html?lang=en&page=2#top",
    "会議は来週の月曜日に延期されました。",
    "Москва является столицей России.",
    "WARNING: DO NOT OPEN WHILE THE MACHINE IS RUNNING!!!",
    "supersonic flow over a blunt body with heat transfer in the boundary layer",
    "invoice",
    "the",
)


def sizes(
    model: onnx.ModelProto, tokens: Callable[[str], Sequence[int]], on_run: Callable[[int], None] = lambda _run: None
) -> dict[str, Array]:
    """Give the largest of each channel, by the name of the weights that it is multiplied with.

    tokens: of a text, as the model reads it. on_run: called before each of the `RUNS`, with its number from 0; one takes seconds.
    """
    exact = _in_eight_bytes(model)
    known = {one.name for one in exact.graph.initializer}
    inputs = {n.input[1]: n.input[0] for n in exact.graph.node if n.op_type == "MatMul" and n.input[1] in known}
    wanted = list(dict.fromkeys(inputs.values()))
    exact.graph.output.extend(helper.make_tensor_value_info(name, TensorProto.DOUBLE, None) for name in wanted)
    evaluator = ReferenceEvaluator(exact)
    found = dict.fromkeys(wanted, np.zeros(1))
    for run, at in enumerate(range(0, len(_TEXTS), -(-len(_TEXTS) // RUNS))):
        on_run(run)
        ids = np.array([tokens("\n".join((*_TEXTS[at:], *_TEXTS[:at])))], np.int64)
        results = evaluator.run(wanted, {"input_ids": ids, "attention_mask": np.ones_like(ids)})
        for name, result in zip(wanted, results, strict=True):
            found[name] = np.maximum(found[name], np.abs(result).max(axis=(0, 1)))
    return {weights: found[name] for weights, name in inputs.items()}


def _in_eight_bytes(model: onnx.ModelProto) -> onnx.ModelProto:
    out = onnx.ModelProto()
    out.CopyFrom(model)
    for constant in out.graph.initializer:
        if constant.data_type == TensorProto.FLOAT:
            constant.CopyFrom(
                numpy_helper.from_array(numpy_helper.to_array(constant).astype(np.float64), constant.name)
            )
    for node in out.graph.node:
        if node.op_type == "Cast":
            node.attribute[0].i = TensorProto.DOUBLE
    return out
