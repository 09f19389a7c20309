// Package store stores the records of the control plane in a SQL database: SQLite (the
// default), PostgreSQL, or MySQL and MariaDB. It implements resource.Store and does not
// depend on any kind of record. No other package depends on the engine in use. Start
// reading with Store and Open.
//
// A Store has two handles. Writes go to the writer inside InTx. Reads go to the reader:
// on SQLite a pool next to the single writing connection, on a server the DB_READER_*
// endpoint. What differs between the engines is in one engine value per file (sqlite.go,
// postgres.go, mysql.go).
//
// A few tables exist in addition to the records. One of them holds the responses that
// the gateway stores for callers of providers that do not store any.
//
// Source: spec, Deployment settings; contract/identity-and-governance.md section 15.
package store
