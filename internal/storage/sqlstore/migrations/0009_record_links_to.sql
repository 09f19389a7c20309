CREATE INDEX record_links_to ON record_links (to_id)
