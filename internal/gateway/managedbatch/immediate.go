package managedbatch

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"time"

	"sluice/internal/domain/batch"
	"sluice/internal/kernel/background"
	"sluice/internal/kernel/lease"
	"sluice/internal/kernel/wire"
)

// How the lines of an immediate batch are sent.
// Source: contract/dataplane.md 6.4.
const (
	linesAtOnce   = 25
	flushInterval = 5 * time.Second
	lineRetries   = 3
)

// These limits are the gateway's own choice.
const (
	flushBytes    = 8 << 20 // results in memory that are stored before the interval has passed
	firstWait     = time.Second
	maxWait       = time.Minute     // also for a retry-after of the provider
	shutdownGrace = 5 * time.Second // for calls that run when the process stops
)

// errStopped ends the dispatch of lines.
var errStopped = errors.New("the batch stops")

// lineRun is the work on the lines of one batch, until they have results or the batch stops.
type lineRun struct {
	service *Service
	batch   *batch.Batch // as of the start; it does not change
	header  wire.Header
	slots   chan struct{}
	full    chan struct{} // requests a flush
	work    sync.WaitGroup

	mu      sync.Mutex // guards what follows
	results []batch.LineResult
	bytes   int
	keyHash string // newest hash of the key
	stop    bool   // no further line is sent
	revoked bool   // the key is not valid any more
	err     error
}

// runLines sends the lines of a batch that have no result yet, and decides how it ends.
func (s *Service) runLines(ctx context.Context, b *batch.Batch) error {
	h, err := s.header(b)
	if err != nil {
		return err
	}
	calls, cancel := outlive(ctx)
	defer cancel()
	r := &lineRun{service: s, batch: b, header: h, slots: make(chan struct{}, linesAtOnce), full: make(chan struct{}, 1), keyHash: b.KeyHash}
	flushed, stopFlushing := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(flushed)
		r.flushUntil(ctx, stopFlushing)
	}()
	err = s.eachLine(ctx, b, func(n int64, text []byte) error { return r.dispatch(ctx, calls, n, text) })
	r.work.Wait()
	close(stopFlushing)
	<-flushed
	return r.conclude(ctx, err)
}

// outlive returns a context for calls that ends some time after ctx, or at once if another node may
// work on the batch.
func outlive(ctx context.Context) (context.Context, context.CancelFunc) {
	calls, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		if errors.Is(context.Cause(ctx), lease.ErrNotHolder) {
			cancel()
			return
		}
		_ = background.Sleep(calls, shutdownGrace)
		cancel()
	})
	return calls, func() { stop(); cancel() }
}

// dispatch starts the work on a line when there is a free slot. calls is the context of its call, which
// outlives ctx by shutdownGrace.
func (r *lineRun) dispatch(ctx, calls context.Context, n int64, text []byte) error {
	if r.batch.Progress.Has(n) {
		return nil
	}
	select {
	case r.slots <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	if r.stopped() || ctx.Err() != nil {
		<-r.slots
		return errStopped
	}
	l, err := batch.ReadLine(n, bytes.Clone(text), r.batch.Endpoint)
	if err != nil { // validate has checked the line
		<-r.slots
		r.add(batch.LineResult{Number: n, CustomID: l.CustomID, Error: &batch.LineError{Code: "invalid_line", Message: err.Error()}})
		return nil //nolint:nilerr // the result of the line contains the error
	}
	r.work.Go(func() {
		defer func() { <-r.slots }()
		r.send(ctx, calls, &l)
	})
	return nil
}

func (r *lineRun) stopped() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stop || r.err != nil
}

// add adds a result, which the next flush stores.
func (r *lineRun) add(result batch.LineResult) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.results = append(r.results, result)
	if r.bytes += len(result.CustomID); result.Response != nil {
		r.bytes += len(result.Response.Body)
	}
	if r.bytes >= flushBytes {
		select {
		case r.full <- struct{}{}:
		default:
		}
	}
}

// send sends a line, with retries, and adds its result. A line whose call was cancelled has none.
func (r *lineRun) send(ctx, calls context.Context, l *batch.Line) {
	var resp *Response
	var err error
	for try := 0; ; try++ {
		resp, err = r.service.Executor.Execute(calls, &Call{
			By: r.caller(), Method: "POST", Path: r.batch.Endpoint, Header: r.header.Clone(1),
			Body: bytes.NewReader(l.Body), Length: int64(len(l.Body)),
		})
		if err != nil || !retried(resp.Status) || try == lineRetries || r.stopped() {
			break
		}
		if background.Sleep(ctx, waitBefore(try, resp.RetryAfter)) != nil {
			return // the line is sent again when the batch continues
		}
	}
	switch {
	case errors.Is(err, ErrKey):
		r.mu.Lock()
		r.stop, r.revoked = true, true
		r.mu.Unlock()
	case err != nil && calls.Err() != nil: // the line is sent again when the batch continues
	case err != nil:
		r.add(batch.LineResult{Number: l.Number, CustomID: l.CustomID, Error: &batch.LineError{Code: "response_incomplete", Message: "the response could not be read completely"}})
	default:
		r.add(batch.LineResult{Number: l.Number, CustomID: l.CustomID, Response: &resp.Response})
	}
}

// retried reports whether a line with this status is sent again.
func retried(status int) bool { return status == 429 || status >= 500 && status != 501 }

// waitBefore returns the pause before a retry: one, two and four seconds, or what the response requests.
func waitBefore(try int, requested time.Duration) time.Duration {
	return min(max(firstWait<<try, requested), maxWait)
}

// flushUntil stores results every few seconds until done is closed.
func (r *lineRun) flushUntil(ctx context.Context, done <-chan struct{}) {
	tick := time.NewTicker(flushInterval)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return
		case <-tick.C:
		case <-r.full:
		}
		if ctx.Err() != nil {
			continue // conclude stores the rest
		}
		if err := r.flush(ctx); err != nil {
			r.service.Log.Info("cannot store results of a batch; retrying", "batch", r.batch.ID, "error", err.Error())
		}
	}
}

// flush stores the results that have arrived, and stops the run if the batch must not go on.
func (r *lineRun) flush(ctx context.Context) error {
	r.mu.Lock()
	results := r.results
	r.results, r.bytes = nil, 0
	r.mu.Unlock()
	b, err := r.service.record(ctx, r.batch.ID, results, func(b *batch.Batch) {
		if hash, err := r.service.Executor.FindKey(r.service.caller(b)); err == nil {
			b.KeyHash = hash // a rotation changes it
		}
	})
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		r.results = append(results, r.results...)
		if r.bytes = sizeOf(r.results); r.bytes >= flushBytes {
			r.err = err // no further call is made whose result might not be stored
		}
		return err
	}
	r.keyHash = b.KeyHash
	r.stop = r.stop || b.State != batch.InProgress || !r.service.Clock.Now().Before(b.Times.Expires)
	return nil
}

// caller returns the key whose rights the calls have.
func (r *lineRun) caller() Caller {
	by := r.service.caller(r.batch)
	r.mu.Lock()
	defer r.mu.Unlock()
	by.KeyHash = r.keyHash
	return by
}

func sizeOf(results []batch.LineResult) (n int) {
	for i := range results {
		if n += len(results[i].CustomID); results[i].Response != nil {
			n += len(results[i].Response.Body)
		}
	}
	return n
}

// conclude stores the last results and decides how the batch ends. err is why the dispatch ended; nil
// after the last line.
func (r *lineRun) conclude(ctx context.Context, err error) error {
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), endLimit)
	defer cancel()
	if errors.Is(context.Cause(ctx), lease.ErrNotHolder) {
		return context.Cause(ctx) // another node sends the lines again
	}
	if err := r.flush(end); err != nil {
		return err
	}
	s := r.service
	b, findErr := s.Store.FindBatch(end, "", r.batch.ID)
	switch {
	case findErr != nil:
		return findErr
	case b.Progress.Done():
		return s.end(end, b, batch.End{State: batch.Completed})
	case r.revoked:
		return s.revoked(end, b)
	case b.State == batch.Cancelling: // the next step ends it
		return nil
	case !s.Clock.Now().Before(b.Times.Expires):
		return s.end(end, b, expired)
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil && !errors.Is(err, errStopped):
		return s.withoutInput(end, b, err)
	}
	return r.err
}

var expired = batch.End{State: batch.Expired, Code: "batch_expired", Message: "the batch expired before this line had a result"}
