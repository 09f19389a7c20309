package sqlstore

import "database/sql"

// MySQLNow is the clock of MySQL, as leases are written by.
var MySQLNow = newMySQL().nowMS

// MySQLPool opens connections to MySQL as a store does.
func MySQLPool(e Endpoint) (*sql.DB, error) { return mysqlPool(e, TLS{}) }
