package logs

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"sluice/internal/control/directory"
	"sluice/internal/control/resource"
	"sluice/internal/domain/record"
	"sluice/internal/kernel/access"
	"sluice/internal/kernel/background"
	"sluice/internal/kernel/fault"
)

// Timing and sizes of a tail. All of it is ours.
const (
	tailPause     = time.Second      // between two polls of the log
	tailHeartbeat = 15 * time.Second // of silence before a comment is sent
	tailPatience  = time.Minute      // in which a reader must reach the newest row once
	tailPage      = 200              // rows read at once
	tailOverlap   = 2 * time.Second  // how far back the first poll goes: rows are stamped before they can be read
)

// routes returns the route that follows the log: it sends rows as the log store ingests them. It
// reads page by page after a cursor. A reader that reconnects with the last cursor it received
// misses nothing and receives nothing twice, on any node that sees the same log.
func (k tailer) routes() resource.Resource {
	return resource.Operations{{
		Method: http.MethodGet, Path: "/logs/stream", ID: "followLogs", Summary: "Stream new log entries as server-sent events", Tag: "Logs",
		Scopes: []access.Scope{access.LogsList}, Stream: "text/event-stream", Run: k.followLogs,
		Query: append(attemptFilters(false), resource.Param{
			Name: "last_event_id", Doc: "Id of the last event received, to resume after it; the header Last-Event-ID takes precedence",
		}),
	}}
}

func (k tailer) followLogs(_ context.Context, c *resource.Call) (any, error) {
	t := &logTail{k: k.Deps, c: c, began: k.Clock.Now(), after: record.Cursor(c.Query("last_event_id"))}
	if last := c.Request().Header.Get("Last-Event-ID"); last != "" {
		t.after = record.Cursor(last)
	}
	if t.after == "" {
		t.fresh, t.after = true, record.CursorAt(t.began.Add(-tailOverlap), noID)
	} else if _, _, err := t.after.Split(); err != nil {
		return nil, fault.New(fault.InvalidParameter, "must be the id of an event that this gateway sent").WithParam("last_event_id")
	}
	if _, err := attemptQuery(c); err != nil {
		return nil, err
	}
	release, err := k.open.acquire(c.OrgID)
	if err != nil {
		return nil, err
	}
	return resource.Stream(func(ctx context.Context, w io.Writer) error {
		defer release()
		return t.run(ctx, events{w.(resource.Flusher)})
	}), nil
}

// noID sorts before every id.
const noID = "00000000-0000-0000-0000-000000000000"

// logTail is a reader of the log that starts at a cursor.
type logTail struct {
	k     Deps
	c     *resource.Call
	began time.Time
	fresh bool          // it begins at the newest row, not after a cursor of the client
	after record.Cursor // of the last row
}

// Reasons for the end of a tail, as its last event reports them.
const (
	endSlow     = "slow"     // the reader is too slow; it may continue after its last event
	endStopping = "stopping" // the program is shutting down; the reader may reconnect
	endRefused  = "refused"  // the caller may not read this log any more
	endFailed   = "failed"   // the log cannot be read at the moment
)

// run sends rows until the reader disconnects or something ends the tail. Once the tail has
// begun, an event reports why it ends.
func (t *logTail) run(ctx context.Context, to events) error {
	if err := to.comment("following"); err != nil {
		return ignoreDisconnect(err)
	}
	quiet, current := time.Now(), time.Now()
	for {
		sent, more, err := t.step(ctx, to)
		switch {
		case err != nil:
			return ignoreDisconnect(t.fail(ctx, to, err))
		case t.k.Draining != nil && t.k.Draining():
			return ignoreDisconnect(to.end(endStopping, "the gateway is shutting down; reconnect and send Last-Event-ID"))
		case more && time.Since(current) > tailPatience:
			return ignoreDisconnect(to.end(endSlow, "the client reads too slowly; choose narrower filters, or reconnect and send Last-Event-ID"))
		}
		if sent > 0 {
			quiet = time.Now()
		}
		if more {
			continue
		}
		current = time.Now()
		if current.Sub(quiet) >= tailHeartbeat {
			if err := to.comment("quiet"); err != nil {
				return ignoreDisconnect(err)
			}
			quiet = current
		}
		if err := background.Sleep(ctx, tailPause); err != nil {
			return ignoreDisconnect(t.fail(ctx, to, err))
		}
	}
}

// errReaderGone is the error of a write to a disconnected reader.
var errReaderGone = errors.New("the client disconnected")

// ignoreDisconnect returns nil if the reader has disconnected, because nothing can be reported
// to it.
func ignoreDisconnect(err error) error {
	if errors.Is(err, errReaderGone) {
		return nil
	}
	return err
}

// fail reports why the tail cannot continue.
func (t *logTail) fail(ctx context.Context, to events, err error) error {
	if ctx.Err() != nil || errors.Is(err, errReaderGone) {
		return errReaderGone
	}
	f := fault.From(err)
	if f.HTTPStatus() < http.StatusInternalServerError {
		return to.end(endRefused, f.Text())
	}
	t.k.Log.Error("log tail connection closed: client too slow", "request_id", t.c.RequestID, "error", err.Error())
	return to.end(endFailed, "cannot read the log; reconnect and send Last-Event-ID")
}

// step checks the caller again and then sends a page; more reports that another page may follow.
func (t *logTail) step(ctx context.Context, to events) (sent int, more bool, err error) {
	if err := t.c.Reauthorize(ctx); err != nil {
		return 0, false, err
	}
	q, err := attemptQuery(t.c)
	if err != nil {
		return 0, false, err
	}
	q.ByArrival, q.After, q.Limit = true, t.after, tailPage
	page, err := t.k.Logs.List(ctx, q)
	if err != nil {
		return 0, false, err
	}
	if len(page.Rows) == 0 {
		return 0, page.Next != "", nil
	}
	slugs := directory.WorkspaceSlugs{From: t.c.Reader, Known: make(map[string]string)}
	names, err := attempts{t.k}.newLogNames(ctx, t.c)
	if err != nil {
		return 0, false, err
	}
	for i := range page.Rows {
		a := &page.Rows[i]
		if !t.before(a, page.Arrived[i]) {
			slug, err := slugs.Find(ctx, a.WorkspaceID)
			if err != nil {
				return sent, false, err
			}
			m := metricsOf(a, slug)
			if err := names.add(ctx, a, &m); err != nil {
				return sent, false, err
			}
			if err := to.row(page.Arrived[i], m); err != nil {
				return sent, false, err
			}
			sent++
		}
		t.after = page.Arrived[i]
	}
	if sent > 0 {
		err = to.flush()
	}
	return sent, page.Next != "", err
}

// before reports whether an attempt had ended when the tail began. The first poll goes back a
// little, and must not show older rows.
func (t *logTail) before(a *record.Attempt, position record.Cursor) bool {
	arrived, _, err := position.Split()
	return t.fresh && err == nil && arrived.Before(t.began) && a.Started.Add(a.Duration).Before(t.began)
}
