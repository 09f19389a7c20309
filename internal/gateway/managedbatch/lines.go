package managedbatch

import (
	"context"
	"io"

	"sluice/internal/dialect/uploads"
	"sluice/internal/domain/batch"
	"sluice/internal/kernel/ident"
)

// eachLine calls each with the lines of the input of a batch, from 0. The line is valid only during
// the call. An error of each ends it.
func (s *Service) eachLine(ctx context.Context, b *batch.Batch, each func(number int64, line []byte) error) error {
	f, err := s.inputFile(ctx, b)
	if err != nil {
		return err
	}
	return numbered(s.open(ctx, f), each)
}

// numbered calls each with the lines of a file that are not blank, from 0.
func numbered(file io.Reader, each func(number int64, line []byte) error) error {
	number := int64(-1)
	return uploads.EachLine(file, func(_ int, line []byte) error {
		number++
		return each(number, line)
	})
}

// record stores results of lines, and changes the batch with them. Lines that have a result already are
// left out, so a node that lost its lease adds nothing twice. change may be nil.
func (s *Service) record(ctx context.Context, id string, results []batch.LineResult, change func(b *batch.Batch)) (*batch.Batch, error) {
	return s.Store.UpdateBatch(ctx, id, func(b *batch.Batch) (*batch.Added, error) {
		var output, errs []byte
		var outputs, failures int64
		for i := range results {
			r := &results[i]
			ok := r.Response.OK()
			switch {
			case !b.Progress.Add(r.Number, ok):
			case ok:
				output = r.Append(output, ident.NewObjectID("batch_req_"))
				outputs++
			default:
				errs = r.Append(errs, ident.NewObjectID("batch_req_"))
				failures++
			}
		}
		added := &batch.Added{}
		if err := s.grow(b, &b.Output, output, outputs, added); err != nil {
			return nil, err
		}
		if err := s.grow(b, &b.Errors, errs, failures, added); err != nil {
			return nil, err
		}
		if change != nil {
			change(b)
		}
		return added, nil
	})
}

// validate checks the input of a batch. A provider's batch is then submitted.
func (s *Service) validate(ctx context.Context, b *batch.Batch) error {
	var problems []batch.Problem
	seen := make(map[string]bool)
	total := int64(0)
	err := s.eachLine(ctx, b, func(n int64, text []byte) error {
		total++
		l, err := batch.ReadLine(n, text, b.Endpoint)
		switch {
		case err != nil:
		case seen[l.CustomID]:
			err = errTwice
		default:
			seen[l.CustomID] = true
			return nil
		}
		if len(problems) < batch.MaxProblems {
			problems = append(problems, batch.Problem{Code: "invalid_line", Message: err.Error(), Line: n + 1})
		}
		return nil
	})
	if err != nil {
		return s.withoutInput(ctx, b, err)
	}
	if len(problems) > 0 {
		return s.end(ctx, b, batch.End{State: batch.Failed}, problems...)
	}
	if b.Delegated() {
		return s.submit(ctx, b)
	}
	_, err = s.Store.UpdateBatch(ctx, b.ID, func(b *batch.Batch) (*batch.Added, error) {
		b.Progress.Total = total
		s.begun(b)
		return nil, nil
	})
	return err
}

// begun moves a validated batch to the state in_progress.
func (s *Service) begun(b *batch.Batch) {
	if b.State == batch.Validating {
		b.State, b.Times.InProgress = batch.InProgress, s.Clock.Now()
	}
}

// finishLines is the number of lines that finish stores at once.
const finishLines = 1000

// finish gives the lines without a result an error, and closes the batch.
func (s *Service) finish(ctx context.Context, b *batch.Batch) error {
	if b.End.Code != "" && !b.Progress.Done() {
		if err := s.giveUpLines(ctx, b); err != nil {
			return err
		}
	}
	now := s.Clock.Now()
	closed, err := s.Store.UpdateBatch(ctx, b.ID, func(b *batch.Batch) (*batch.Added, error) {
		if b.State.Ended() {
			return nil, nil
		}
		b.Close(now)
		return &batch.Added{Files: s.resultFiles(b)}, nil
	})
	if err == nil {
		s.Log.Info("batch ended", "batch", b.ID, "state", string(closed.State), "total", closed.Progress.Total, "completed", closed.Progress.Completed, "failed", closed.Progress.Failed)
	}
	return err
}

// giveUpLines gives each line without a result the error with which the batch ends.
func (s *Service) giveUpLines(ctx context.Context, b *batch.Batch) error {
	var results []batch.LineResult
	flush := func() error {
		_, err := s.record(ctx, b.ID, results, nil)
		results = results[:0]
		return err
	}
	err := s.eachLine(ctx, b, func(n int64, text []byte) error {
		if b.Progress.Has(n) {
			return nil
		}
		l, _ := batch.ReadLine(n, text, b.Endpoint) // an invalid line has its custom_id, too
		results = append(results, batch.LineResult{Number: n, CustomID: l.CustomID, Error: &batch.LineError{Code: b.End.Code, Message: b.End.Message}})
		if len(results) < finishLines {
			return nil
		}
		return flush()
	})
	switch {
	case err == nil:
		return flush()
	case errIsInputGone(err): // the batch ends all the same
		return flush()
	}
	return err
}

// resultFiles returns the result files of a batch that has ended.
func (s *Service) resultFiles(b *batch.Batch) (files []*batch.File) {
	for _, r := range []struct {
		result *batch.Result
		name   string
	}{{&b.Output, b.ID + "_output.jsonl"}, {&b.Errors, b.ID + "_error.jsonl"}} {
		if r.result.FileID == "" {
			continue
		}
		files = append(files, &batch.File{
			ID: r.result.FileID, OrgID: b.OrgID, WorkspaceID: b.WorkspaceID, KeyID: b.KeyID, Name: r.name, Purpose: batch.PurposeOutput,
			Bytes: r.result.Bytes, Lines: r.result.Lines, Chunks: r.result.Chunks, Created: b.Times.Ended, Expires: earlier(b.Times.Ended, b.Times.Expires).Add(s.Retention),
		})
	}
	return files
}
