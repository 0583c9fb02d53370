"""One module a family of file types, each `parse(source, media_type) -> Parsed`; `ingest.parse` chooses."""
