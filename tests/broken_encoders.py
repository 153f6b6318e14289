"""Models that load and are no encoders: an endless one, one whose vectors vary in length, one that gives no numbers."""

from __future__ import annotations

from pathlib import Path

import tiny_encoder

KINDS = ("endless", "one number", "length varies", "not a number", "many tokens")


def write(folder: Path, kind: str) -> Path:
    """Write a tiny encoder, and put a model of that kind in its place."""
    import onnx
    from onnx import TensorProto, helper

    tiny_encoder.write(folder)
    if kind == "many tokens":
        (folder / "encoder.json").write_text('{"max_tokens": "lots"}', encoding="utf-8")
        return folder
    number = TensorProto.FLOAT
    nodes = [helper.make_node("Cast", ["input_ids"], ["f"], to=number)]
    constants = []
    if kind == "endless":
        nodes.append(helper.make_node("Loop", ["n", "t", "f"], ["out"], body=_body()))
        constants = [
            helper.make_tensor("n", TensorProto.INT64, [], [2**62]),
            helper.make_tensor("t", TensorProto.BOOL, [], [True]),
        ]
    elif kind == "one number":
        nodes.append(helper.make_node("ReduceMean", ["f"], ["out"], axes=[1]))
    elif kind == "length varies":
        nodes.append(helper.make_node("Identity", ["f"], ["out"]))
    else:
        nodes += [
            helper.make_node("Unsqueeze", ["f", "axis"], ["u"]),
            helper.make_node("Expand", ["u", "size"], ["e"]),
            helper.make_node("Sub", ["e", "e"], ["zero"]),
            helper.make_node("Div", ["zero", "zero"], ["out"]),
        ]
        constants = [
            helper.make_tensor("axis", TensorProto.INT64, [1], [2]),
            helper.make_tensor("size", TensorProto.INT64, [3], [1, 1, 8]),
        ]
    inputs = [helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["batch", "length"])]
    graph = helper.make_graph(nodes, "broken", inputs, [helper.make_tensor_value_info("out", number, None)], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, folder / "model.onnx")
    return folder


def _body():
    from onnx import TensorProto, helper

    shape = ["batch", "length"]
    return helper.make_graph(
        [helper.make_node("Identity", ["c"], ["again"]), helper.make_node("Add", ["x", "x"], ["y"])],
        "body",
        [
            helper.make_tensor_value_info("i", TensorProto.INT64, []),
            helper.make_tensor_value_info("c", TensorProto.BOOL, []),
            helper.make_tensor_value_info("x", TensorProto.FLOAT, shape),
        ],
        [
            helper.make_tensor_value_info("again", TensorProto.BOOL, []),
            helper.make_tensor_value_info("y", TensorProto.FLOAT, shape),
        ],
    )
