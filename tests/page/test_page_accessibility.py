"""axe-core finds nothing to mend in any view, light and dark: WCAG 2.2 AA and best practices. `make browser` fetches it."""

from __future__ import annotations

from pathlib import Path

import pytest
from visiting import visit

AXE = Path(__file__).parents[2] / ".browser/axe-core/axe.min.js"
FILES = (
    "policies/security.md",
    "finance/budget-2026.xlsx",
    "policies/travel-policy.pdf",
    "projects/roadmap-2026.pptx&pointer=slide%202",
)
VIEWS = (
    "/",
    "/index?check=1",
    "/caches",
    "/cache?cache=handbook&query=laptop&budget=200",
    "/cache?cache=handbook&query=laptop&as=pack",
    "/diff?old=handbook&new=handbook-new",
    "/?q=vendor",
    "/?q=vendor&kind=.docx&sort=date",
    "/?q=nothing-says-this&kind=.pdf",
    "/?q=a&year=x",
)


@pytest.mark.skipif(not AXE.exists(), reason="axe-core is not there: make browser fetches it")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(browser, site, scheme):
    found = {}
    with visit(browser, site, color_scheme=scheme, viewport={"width": 1000, "height": 700}) as page:
        for address in (*VIEWS, *(f"/see?q=travel&path={site.home}/handbook/{name}" for name in FILES), "/enter"):
            page.goto(site.address + address)
            page.evaluate(AXE.read_text(encoding="utf-8"))
            violations = page.evaluate(
                "() => axe.run({rules: {'target-size': {enabled: true}}}).then(found => found.violations)"
            )
            found |= {f"{address} {each['id']}": [node["html"] for node in each["nodes"]] for each in violations}
    assert found == {}
