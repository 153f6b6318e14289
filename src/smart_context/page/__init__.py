"""The page for people: a face over HTTP that calls the same verbs as the tools, under the same permissions, rates and audit."""
