package managedbatch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/url"
	"sync"
	"time"

	"sluice/internal/domain/batch"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/wire"
)

// Pauses between polls of a provider's batch.
const (
	firstPoll = 5 * time.Second // it grows by half up to maxPoll
	maxPoll   = time.Minute
)

// pollPause returns the pause after a number of polls.
func pollPause(polls int) time.Duration {
	p := firstPoll
	for range polls {
		if p += p / 2; p >= maxPoll {
			return maxPoll
		}
	}
	return p
}

// poll reads the state of the provider's batch. A batch that is being cancelled is cancelled there first.
func (s *Service) poll(ctx context.Context, b *batch.Batch) error {
	h, err := s.header(b)
	if err != nil {
		return err
	}
	path := "/v1/batches/" + url.PathEscape(b.Upstream.BatchID)
	if b.State == batch.Cancelling && !b.Upstream.Cancelled {
		if err := s.cancelUpstream(ctx, b, h, path); err != nil {
			return err
		}
	}
	c := &Call{By: s.caller(b), Method: "GET", Path: path, Header: h}
	resp, err := s.Executor.Execute(ctx, c)
	switch {
	case errors.Is(err, ErrKey):
		return s.revoked(ctx, b)
	case err != nil:
		return err
	}
	now := s.Clock.Now()
	_, err = s.Store.UpdateBatch(ctx, b.ID, func(b *batch.Batch) (*batch.Added, error) {
		b.Upstream.Polls++
		b.Due = now.Add(pollPause(b.Upstream.Polls))
		if resp.Status == 200 {
			noteUpstream(b, resp.Body, now)
		}
		if b.Upstream.Status == "" && now.After(b.Times.Expires) {
			b.EndAs(expired, now)
		}
		return nil, nil
	})
	return err
}

func (s *Service) cancelUpstream(ctx context.Context, b *batch.Batch, h wire.Header, path string) error {
	_, err := s.Executor.Execute(ctx, &Call{By: s.caller(b), Method: "POST", Path: path + "/cancel", Header: h.Clone(0)})
	if errors.Is(err, ErrKey) {
		return s.revoked(ctx, b)
	}
	if err != nil {
		return err
	}
	_, err = s.Store.UpdateBatch(ctx, b.ID, func(b *batch.Batch) (*batch.Added, error) {
		b.Upstream.Cancelled = true // a provider that rejects it ends the batch by itself
		return nil, nil
	})
	return err
}

// noteUpstream stores what the provider states about its batch.
func noteUpstream(b *batch.Batch, body []byte, now time.Time) {
	var o struct {
		Status string          `json:"status"`
		Output string          `json:"output_file_id"`
		Error  string          `json:"error_file_id"`
		Errors json.RawMessage `json:"errors"`
		Counts struct {
			Completed int64 `json:"completed"`
		} `json:"request_counts"`
	}
	if json.Unmarshal(body, &o) != nil {
		return // the next poll tries again
	}
	u := &b.Upstream
	u.Done = max(0, min(o.Counts.Completed, b.Progress.Total))
	if !batch.State(o.Status).Ended() {
		return
	}
	u.Status, u.HasOutput, u.ErrorFileID = o.Status, o.Output != "", o.Error
	b.Due = now
	if b.State == batch.InProgress {
		b.State, b.Times.PostProcessing = batch.PostProcessing, now
	}
	list, _ := jsonedit.Find(o.Errors, "data")
	for e := range jsonedit.Elements(list) {
		text := jsonedit.Text(e, "message")
		b.AddProblem(batch.Problem{Code: jsonedit.Text(e, "code"), Message: text[:min(len(text), maxErrorText)]})
	}
}

// endOf returns how a batch ends whose provider's batch has ended with a status.
func endOf(status string) batch.End {
	switch batch.State(status) {
	case batch.Expired:
		return expired
	case batch.Cancelled:
		return batch.End{State: batch.Cancelled, Code: "batch_cancelled", Message: "the batch was cancelled before this line had a result"}
	case batch.Failed:
		return batch.End{State: batch.Failed, Code: "batch_failed", Message: "the provider's batch failed"}
	default:
		return batch.End{State: batch.Completed, Code: "no_result", Message: "the provider returned no result for this line"}
	}
}

// postProcess reads the results of the provider, judges them, and decides how the batch ends.
func (s *Service) postProcess(ctx context.Context, b *batch.Batch) error {
	h, err := s.header(b)
	if err != nil {
		return err
	}
	numbers, err := s.lineNumbers(ctx, b)
	if err != nil {
		return s.withoutInput(ctx, b, err)
	}
	var paths []string
	if b.Upstream.HasOutput {
		paths = append(paths, "/v1/batches/"+url.PathEscape(b.Upstream.BatchID)+"/output")
	}
	if id := b.Upstream.ErrorFileID; id != "" {
		paths = append(paths, "/v1/files/"+url.PathEscape(id)+"/content")
	}
	for _, path := range paths {
		err := s.readResults(ctx, b, h, path, numbers)
		switch {
		case errors.Is(err, ErrKey):
			return s.revoked(ctx, b)
		case err != nil:
			return err
		}
	}
	return s.end(ctx, b, endOf(b.Upstream.Status))
}

// lineNumbers returns the numbers of the lines by their custom_id.
func (s *Service) lineNumbers(ctx context.Context, b *batch.Batch) (map[string]int64, error) {
	numbers := make(map[string]int64)
	err := s.eachLine(ctx, b, func(n int64, text []byte) error {
		numbers[jsonedit.Text(text, "custom_id")] = n
		return nil
	})
	return numbers, err
}

// readResults reads a result file of the provider and stores its judged results.
func (s *Service) readResults(ctx context.Context, b *batch.Batch, h wire.Header, path string, numbers map[string]int64) error {
	from, to := io.Pipe()
	var all sync.WaitGroup
	all.Go(func() {
		resp, err := s.Executor.Execute(ctx, &Call{By: s.caller(b), Method: "GET", Path: path, Header: h.Clone(0), To: to})
		if err == nil && resp.Status != 200 {
			err = errors.New("cannot read the results of the provider: " + textOf(resp.Body))
		}
		to.CloseWithError(err) // nil is the end of the file
	})
	defer all.Wait()
	defer func() { _ = from.Close() }() // never fails
	g := &resultGroup{service: s, batch: b, header: h}
	err := numbered(from, func(_ int64, line []byte) error {
		r := batch.ReadResult(bytes.Clone(line))
		n, known := numbers[r.CustomID]
		if !known || b.Progress.Has(n) {
			return nil
		}
		r.Number = n
		return g.add(ctx, r)
	})
	if err != nil {
		return err
	}
	return g.flush(ctx)
}

// resultGroup collects results of a provider, judges and stores them.
type resultGroup struct {
	service *Service
	batch   *batch.Batch
	header  wire.Header
	results []batch.LineResult
	bytes   int
}

// Sizes of a group.
const (
	groupLines = 200
	groupBytes = 4 << 20
)

func (g *resultGroup) add(ctx context.Context, r batch.LineResult) error {
	g.results = append(g.results, r)
	if r.Response != nil {
		g.bytes += len(r.Response.Body)
	}
	if len(g.results) < groupLines && g.bytes < groupBytes {
		return nil
	}
	return g.flush(ctx)
}

// flush judges the collected results and stores them.
func (g *resultGroup) flush(ctx context.Context) error {
	slots, errs := make(chan struct{}, judgedAtOnce), make([]error, len(g.results))
	var all sync.WaitGroup
	for i := range g.results {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			errs[i] = g.judge(ctx, &g.results[i])
		})
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	_, err := g.service.record(ctx, g.batch.ID, g.results, nil)
	g.results, g.bytes = g.results[:0], 0
	return err
}

// judge replaces a successful response by what the output hooks leave of it. Only the model of the
// request is known here.
func (g *resultGroup) judge(ctx context.Context, r *batch.LineResult) error {
	if !r.Response.OK() {
		return nil
	}
	request := append(append([]byte(`{"model":`), jsonedit.Quote(jsonedit.Text(r.Response.Body, "model"))...), '}')
	got, err := g.service.Judge.JudgeResponse(ctx, &Call{
		By: g.service.caller(g.batch), Method: "POST", Path: g.batch.Endpoint, Header: g.header.Clone(1), Body: bytes.NewReader(request), Length: int64(len(request)),
	}, r.Response.Body)
	switch {
	case err != nil:
		return err
	case got.Denial != nil:
		r.Response = got.Denial
	case got.Body != nil:
		r.Response.Body = got.Body
	}
	return nil
}
