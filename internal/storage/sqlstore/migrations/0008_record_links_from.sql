CREATE INDEX record_links_from ON record_links (from_id)
