package sqlstore

import (
	"database/sql"
	"errors"
	"time"
)

// serverPools opens both handles of a server engine without connecting. Without a separate reader
// the writer's pool serves the reads too, except in HADR mode: then reads have connections that a
// stuck write cannot occupy.
func serverPools(pool func(Endpoint, TLS) (*sql.DB, error)) func(Settings) (writer, reader *sql.DB, err error) {
	return func(s Settings) (writer, reader *sql.DB, err error) {
		if writer, err = pool(s.Writer, s.TLS); err != nil {
			return nil, nil, err
		}
		size(writer, s.PoolSize)
		if s.Reader == s.Writer && !s.HADR {
			return writer, writer, nil
		}
		if reader, err = pool(s.Reader, s.TLS); err != nil {
			return nil, nil, errors.Join(err, writer.Close())
		}
		size(reader, s.PoolSize)
		return writer, reader, nil
	}
}

// size limits a pool. Connections are replaced after some minutes, so that the pool follows a
// changed address of a host name.
func size(db *sql.DB, n int) {
	db.SetMaxOpenConns(n)
	db.SetMaxIdleConns(n)
	db.SetConnMaxLifetime(5 * time.Minute)
	db.SetConnMaxIdleTime(time.Minute)
}
