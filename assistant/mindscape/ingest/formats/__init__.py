"""One module a family of file types, each `parse(source) -> Parsed`; `ingest.parse` chooses among them."""
