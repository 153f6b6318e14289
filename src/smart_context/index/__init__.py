"""An indexing run and what keeps an index up to date: intake, writer, jobs, watch, upkeep, status."""
