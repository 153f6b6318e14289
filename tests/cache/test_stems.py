"""English stems: the examples of Porter's paper, rule by rule."""

from __future__ import annotations

import pytest

from smart_context.cache.pack import stem

EXAMPLES = """
caresses caress  ponies poni  ties ti  caress caress  cats cat
feed feed  agreed agre  plastered plaster  bled bled  motoring motor  sing sing
conflated conflat  troubled troubl  sized size  hopping hop  tanned tan  falling fall  hissing hiss  fizzed fizz  failing fail  filing file
happy happi  sky sky
relational relat  conditional condit  rational ration  valenci valenc  hesitanci hesit  digitizer digit  conformabli conform  radicalli radic
differentli differ  vileli vile  analogousli analog  vietnamization vietnam  predication predic  operator oper  feudalism feudal
decisiveness decis  hopefulness hope  callousness callous  formaliti formal  sensitiviti sensit  sensibiliti sensibl
triplicate triplic  formative form  formalize formal  electriciti electr  electrical electr  hopeful hope  goodness good
revival reviv  allowance allow  inference infer  airliner airlin  gyroscopic gyroscop  adjustable adjust  defensible defens  irritant irrit
replacement replac  adjustment adjust  dependent depend  adoption adopt  homologou homolog  communism commun  activate activ
angulariti angular  homologous homolog  effective effect  bowdlerize bowdler
probate probat  rate rate  cease ceas  controll control  roll roll
extension extens  protection protect  mission mission  opinion opinion  religion religion  occasion occas  at at  as as  toy toi  syzygy syzygi
""".split()  # noqa: SIM905


@pytest.mark.parametrize(("word", "expected"), list(zip(EXAMPLES[::2], EXAMPLES[1::2], strict=True)))
def test_a_word_of_each_rule_has_the_stem_of_the_paper(word, expected):
    assert stem.stem(word, "en") == expected
