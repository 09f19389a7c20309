package duckdb

import (
	"context"
	"errors"
	"fmt"
	"time"

	duckdb "github.com/duckdb/duckdb-go/v2"
	"github.com/duckdb/duckdb-go/v2/mapping"

	"sluice/internal/storage/requestlog"
)

// link is the writer's connection to the database, below database/sql. Rows are appended by
// column, without an allocation for each value. It is an additional handle of the instance that
// the connector opened. It belongs to one goroutine at a time.
type link struct {
	db   mapping.Database
	conn mapping.Connection
	note mapping.PreparedStatement // stores the progress

	aside *helper   // runs its statements, except while it is in a hurry
	rush  time.Time // end of the hurry
}

// The writer yields to calls as queries do, while it waits at most mayWait for a transaction.
// Otherwise it stops yielding for some time, so that it does not fall behind.
const (
	mayWait  = 500 * time.Millisecond
	rushTime = 10 * time.Second
)

// openLink needs the settings with which the connector opened the database.
func openLink(o Options) (*link, error) {
	var config mapping.Config
	if mapping.CreateConfig(&config) == mapping.StateError {
		return nil, errors.New("cannot create the settings")
	}
	defer mapping.DestroyConfig(&config)
	for _, s := range append(o.settings(), setting{"duckdb_api", "go"}) { // as the driver sets it
		if mapping.SetConfig(config, s.name, s.value) == mapping.StateError {
			return nil, fmt.Errorf("setting %s=%s was rejected", s.name, s.value)
		}
	}
	l := new(link)
	var why string
	if mapping.GetOrCreateFromCache(duckdb.GetInstanceCache(), o.Path, &l.db, config, &why) == mapping.StateError {
		return nil, errors.New(why)
	}
	if mapping.Connect(l.db, &l.conn) == mapping.StateError {
		mapping.Close(&l.db)
		return nil, errors.New("cannot create a connection")
	}
	if mapping.Prepare(l.conn, "UPDATE progress SET next_seq = ?, body_file = ?, body_size = ?", &l.note) == mapping.StateError {
		err := errors.New(mapping.PrepareError(l.note))
		l.close()
		return nil, err
	}
	l.aside = newHelper("sluice-writer", mayWait)
	return l, nil
}

// do runs a statement.
func (l *link) do(f func() mapping.State) (s mapping.State) {
	if time.Now().Before(l.rush) {
		return f()
	}
	_ = l.aside.do(func() error { s = f(); return nil }) // f returns no error
	return s
}

// adjustPriority ends a transaction: the next one does not yield if this one waited long.
func (l *link) adjustPriority() {
	if l.aside.rest() > mayWait {
		l.rush = time.Now().Add(rushTime)
	}
}

func (l *link) close() {
	l.aside.end()
	mapping.DestroyPrepare(&l.note)
	mapping.Disconnect(&l.conn)
	mapping.Close(&l.db)
}

// failure returns the error of a statement in the driver's form.
func failure(res *mapping.Result) error {
	return &duckdb.Error{Type: duckdb.ErrorType(mapping.ResultErrorType(res)), Msg: mapping.ResultError(res)}
}

// exec runs a statement without parameters.
func (l *link) exec(query string) error {
	var res mapping.Result
	defer mapping.DestroyResult(&res)
	if l.do(func() mapping.State { return mapping.Query(l.conn, query, &res) }) == mapping.StateError {
		return fmt.Errorf("write log database: %w", failure(&res))
	}
	return nil
}

// store saves the progress.
func (l *link) store(p requestlog.Progress) error {
	for _, state := range [...]mapping.State{
		mapping.BindUInt64(l.note, 1, p.Next.Seq), mapping.BindUInt32(l.note, 2, p.BodyStore.File), mapping.BindInt64(l.note, 3, p.BodyStore.Size),
	} {
		if state == mapping.StateError {
			return fmt.Errorf("write log progress: %s", mapping.PrepareError(l.note))
		}
	}
	var res mapping.Result
	defer mapping.DestroyResult(&res)
	if l.do(func() mapping.State { return mapping.ExecutePrepared(l.note, &res) }) == mapping.StateError {
		return fmt.Errorf("write log progress: %w", failure(&res))
	}
	return nil
}

// until interrupts the connection's work when ctx ends. Call the returned function before the
// connection is used for anything else.
func (l *link) until(ctx context.Context) (stop func()) {
	done := make(chan struct{})
	cancel := context.AfterFunc(ctx, func() {
		mapping.Interrupt(l.conn)
		close(done)
	})
	return func() {
		if !cancel() {
			<-done
		}
	}
}
