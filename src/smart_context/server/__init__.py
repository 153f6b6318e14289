"""MCP servers: the wire, the table of tools, and the glue to the SDK."""
