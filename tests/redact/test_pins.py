"""Numbers that are secret by the word before them; other numbers stay."""

from __future__ import annotations

import pytest

from redaction_cases import masked
from smart_context import redact


@pytest.mark.parametrize(
    "line",
    [
        "PIN: ⟦4711⟧", "PIN ⟦4711⟧", "SIM PIN = ⟦4711⟧", "Your PIN is ⟦4711⟧.", "Ihre PIN lautet: ⟦471108⟧", "PIN-Code: ⟦4711⟧", "Code PIN : ⟦4711⟧", "PIN kodu: ⟦4711⟧", "ПИН-код: ⟦4711⟧", "PIN1: ⟦4711⟧, PUK1: ⟦12345678⟧", "**PIN:** ⟦4711⟧",
        "PUK ⟦12345678⟧", "CVV: ⟦123⟧", "CVC ⟦1234⟧", "cvv2=⟦123⟧", '{"pin": "⟦4711⟧", "cvv": ⟦123⟧}', "door code: ⟦4711⟧", "The alarm code is ⟦471108⟧", "Zugangscode: ⟦4711⟧", "Code d'accès : ⟦4711⟧", "暗証番号：⟦4711⟧",
    ],
)  # fmt: skip
def test_the_number_after_such_a_word_is_hidden(line):
    text, shown = masked(line)
    assert redact.clean(f"jane\n{text}\nand more\n") == f"jane\n{shown}\nand more\n"


@pytest.mark.parametrize(
    "line",
    [
        "pin: 13", "pin 4711 of them", "PIN 4711.5", "PIN: 4711ab", "pin = 3.3333", "spin: 4711", "PIN: 47%", "the pin is 1000mm long", "PIN: 2024-05-01", "pin=0x4711", "exit code: 4711", "status code: 4040", "PUK 123456", "CVC 12", "CVV: 12345", "mapping: 4711", "CVC 1.2.3",
    ],
)  # fmt: skip
def test_another_number_stays(line):
    assert redact.clean(f"{line}\n") == f"{line}\n"
