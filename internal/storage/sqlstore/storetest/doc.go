// Package storetest is the test suite that every engine of package sqlstore must pass (Run,
// Migrations). It also finds or starts the database servers that tests need: Postgres and
// MySQL create fresh databases on the servers of the machine. StartPostgres and
// StartMariaDB start private servers, which a test may stop, restart and give TLS.
package storetest
