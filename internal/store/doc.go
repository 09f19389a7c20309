// Package store keeps the records of the control plane in a SQL database: SQLite
// (the default), PostgreSQL, or MySQL and MariaDB. It satisfies resource.Store and
// knows no kind; nothing outside of it knows which engine runs.
//
// There are two handles. Writes go to the writer inside InTx; reads go to the
// reader, which on SQLite is a pool beside the one writing connection and on a
// server the DB_READER_* endpoint. What truly differs between the engines sits in
// one engine value per file (sqlite.go, postgres.go, mysql.go).
//
// Beside the records stand a few tables of their own, one of them the responses that
// the gateway keeps for callers of providers that keep none.
//
// Source: spec, Deployment settings; contract/identity-and-governance.md section 15.
package store
