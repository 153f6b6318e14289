"""From a search to a proof: freeze what was found, compare caches, explain a selection, sign, replay."""
