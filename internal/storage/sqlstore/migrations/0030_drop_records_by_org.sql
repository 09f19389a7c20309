DROP INDEX records_by_org{on records}
