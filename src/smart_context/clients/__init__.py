"""Connect MCP clients: know where each keeps its configuration, and change one entry of it without touching the rest."""
