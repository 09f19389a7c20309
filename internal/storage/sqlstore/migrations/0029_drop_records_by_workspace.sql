DROP INDEX records_by_workspace{on records}
