// Package storetest is the suite that every engine of package store passes (Run,
// Migrations), and finds or starts the database servers that tests need: fresh
// databases on the servers of the machine (Postgres, MySQL), and private servers
// that a test may stop, start and put TLS on (StartPostgres, StartMariaDB).
package storetest
