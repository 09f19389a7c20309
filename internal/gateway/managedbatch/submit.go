package managedbatch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"sluice/internal/domain/batch"
	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/wire"
)

// errBusy reports a provider that does not accept a call now.
var errBusy = errors.New("the provider is busy")

// errTwice reports two lines with the same custom_id.
var errTwice = errors.New("custom_id is used by an earlier line")

// judgedAtOnce is the number of lines that are judged at the same time.
const judgedAtOnce = 25

// submit judges the lines of a batch, uploads those that may be sent to the provider, and creates the
// batch there. Each part is stored, so that a restart repeats none.
func (s *Service) submit(ctx context.Context, b *batch.Batch) error {
	h, err := s.header(b)
	if err != nil {
		return err
	}
	if b.Upstream.FileID == "" {
		uploaded, err := s.uploadInput(ctx, b, h)
		if err != nil || uploaded == nil {
			return err
		}
		b = uploaded
	}
	return s.createUpstream(ctx, b, h)
}

// uploadInput uploads the judged input to the provider, and returns the batch with its file. It returns
// nil if the batch must not go on.
func (s *Service) uploadInput(ctx context.Context, b *batch.Batch, h wire.Header) (*batch.Batch, error) {
	form := newUploadForm(s.SpoolDir, b.ID+".jsonl")
	defer form.close()
	denied, sent, err := s.judgeInput(ctx, b, h, form)
	switch {
	case errors.Is(err, ErrKey):
		return nil, s.revoked(ctx, b)
	case err != nil:
		return nil, s.withoutInput(ctx, b, err)
	}
	b, err = s.record(ctx, b.ID, denied, func(b *batch.Batch) { b.Progress.Total = sent + int64(len(denied)) })
	if err != nil || b.State != batch.Validating {
		return nil, err
	}
	if sent == 0 {
		return nil, s.end(ctx, b, batch.End{State: batch.Completed})
	}
	body, size, contentType, err := form.payload()
	if err != nil {
		return nil, err
	}
	resp, ok, err := s.ask(ctx, b, &Call{Method: "POST", Path: "/v1/files", Header: withType(h, contentType), Body: body, Length: size}, "upload the input to the provider")
	if err != nil || !ok {
		return nil, err
	}
	id := jsonedit.Text(resp.Body, "id")
	if id == "" {
		return nil, s.end(ctx, b, batch.End{State: batch.Failed}, batch.Problem{Code: "provider_error", Message: "the provider's response to the upload has no id"})
	}
	return s.Store.UpdateBatch(ctx, b.ID, func(b *batch.Batch) (*batch.Added, error) {
		b.Upstream.FileID = id
		return nil, nil
	})
}

func withType(h wire.Header, contentType string) wire.Header {
	h = h.Clone(1)
	h.Set("content-type", contentType)
	return h
}

// ask makes a call to the provider for the batch. It reports false if the batch ends because of the
// response, and an error if the call must be repeated later.
func (s *Service) ask(ctx context.Context, b *batch.Batch, c *Call, doing string) (*Response, bool, error) {
	c.By = s.caller(b)
	resp, err := s.Executor.Execute(ctx, c)
	switch {
	case errors.Is(err, ErrKey):
		return nil, false, s.revoked(ctx, b)
	case err != nil:
		return nil, false, err
	case resp.Status >= 200 && resp.Status < 300:
		return resp, true, nil
	case resp.Status == 429 || resp.Status == 503:
		return nil, false, fmt.Errorf("cannot %s: %w: %s", doing, errBusy, textOf(resp.Body))
	}
	p := batch.Problem{Code: "provider_error", Message: "cannot " + doing + ": " + textOf(resp.Body)}
	return nil, false, s.end(ctx, b, batch.End{State: batch.Failed, Code: p.Code, Message: p.Message}, p)
}

// maxErrorText is the maximum number of bytes of a provider's error in a batch.
const maxErrorText = 500

// textOf returns the message of an error response.
func textOf(body []byte) string {
	text := jsonedit.Text(body, "error", "message")
	if text == "" {
		text = jsonedit.Text(body, "message")
	}
	if text == "" {
		text = "the response has no message"
	}
	return text[:min(len(text), maxErrorText)]
}

// judgeInput writes the lines that may be sent to the form, and returns results for the denied ones.
func (s *Service) judgeInput(ctx context.Context, b *batch.Batch, h wire.Header, form *uploadForm) (denied []batch.LineResult, sent int64, err error) {
	group := make([]*judgedLine, 0, judgedAtOnce)
	flush := func() error {
		s.judgeGroup(ctx, b, h, group)
		for _, j := range group {
			switch {
			case j.err != nil:
				return j.err
			case j.Denial != nil:
				denied = append(denied, batch.LineResult{Number: j.line.Number, CustomID: j.line.CustomID, Response: j.Denial})
			default:
				sent++
				if err := form.writeLine(j.text, j.Body); err != nil {
					return err
				}
			}
		}
		group = group[:0]
		return ctx.Err()
	}
	err = s.eachLine(ctx, b, func(n int64, text []byte) error {
		text = bytes.Clone(text)
		l, err := batch.ReadLine(n, text, b.Endpoint)
		if err != nil {
			return err
		}
		if group = append(group, &judgedLine{line: l, text: text}); len(group) < judgedAtOnce {
			return nil
		}
		return flush()
	})
	if err == nil {
		err = flush()
	}
	return denied, sent, err
}

// judgedLine is a line of the input and what guardrails decided about it.
type judgedLine struct {
	line batch.Line
	text []byte // of the complete line
	err  error
	Judgement
}

func (s *Service) judgeGroup(ctx context.Context, b *batch.Batch, h wire.Header, group []*judgedLine) {
	var all sync.WaitGroup
	for _, j := range group {
		all.Go(func() {
			c := &Call{By: s.caller(b), Method: "POST", Path: b.Endpoint, Header: h.Clone(1), Body: bytes.NewReader(j.line.Body), Length: int64(len(j.line.Body))}
			got, err := s.Judge.JudgeRequest(ctx, c)
			if j.err = err; err == nil {
				j.Judgement = *got
			}
		})
	}
	all.Wait()
}

// createUpstream creates the batch at the provider. If the process ended while it did so before, the
// provider may have the batch, so it is not created again.
func (s *Service) createUpstream(ctx context.Context, b *batch.Batch, h wire.Header) error {
	if b.Upstream.Creating {
		p := batch.Problem{Code: "interrupted", Message: "the gateway stopped while it created the batch at the provider; the provider may run it, so it was not created again"}
		return s.end(ctx, b, batch.End{State: batch.Failed, Code: p.Code, Message: p.Message}, p)
	}
	b, err := s.setCreating(ctx, b, true)
	if err != nil || b.State != batch.Validating {
		return err
	}
	body := append([]byte(`{"input_file_id":`), jsonedit.Quote(b.Upstream.FileID)...)
	body = append(append(body, `,"endpoint":`...), jsonedit.Quote(b.Endpoint)...)
	body = append(append(append(body, `,"completion_window":`...), jsonedit.Quote(b.Window)...), '}')
	resp, ok, err := s.ask(ctx, b, &Call{Method: "POST", Path: "/v1/batches", Header: withType(h, "application/json"), Body: bytes.NewReader(body), Length: int64(len(body))}, "create the batch at the provider")
	if errors.Is(err, errBusy) { // the provider has not created it
		_, undo := s.setCreating(ctx, b, false)
		return errors.Join(err, undo)
	}
	if err != nil { // the provider may have created it
		return err
	}
	if !ok {
		return nil
	}
	id := jsonedit.Text(resp.Body, "id")
	if id == "" {
		return s.end(ctx, b, batch.End{State: batch.Failed}, batch.Problem{Code: "provider_error", Message: "the provider's response to the creation of the batch has no id"})
	}
	_, err = s.Store.UpdateBatch(context.WithoutCancel(ctx), b.ID, func(b *batch.Batch) (*batch.Added, error) {
		b.Upstream.Creating, b.Upstream.BatchID = false, id
		b.Due = s.Clock.Now().Add(firstPoll)
		s.begun(b)
		return nil, nil
	})
	return err
}

func (s *Service) setCreating(ctx context.Context, b *batch.Batch, creating bool) (*batch.Batch, error) {
	return s.Store.UpdateBatch(ctx, b.ID, func(b *batch.Batch) (*batch.Added, error) {
		b.Upstream.Creating = creating
		return nil, nil
	})
}

// uploadForm is the form of an upload to a provider, whose lines are written one after the other.
type uploadForm struct {
	spool    *wire.Spool
	boundary string
	err      error
}

func newUploadForm(dir, name string) *uploadForm {
	f := &uploadForm{spool: wire.NewSpool(dir), boundary: ident.NewKey("sluice-")}
	f.write("--" + f.boundary + "\r\ncontent-disposition: form-data; name=\"purpose\"\r\n\r\nbatch\r\n--" + f.boundary +
		"\r\ncontent-disposition: form-data; name=\"file\"; filename=\"" + name + "\"\r\ncontent-type: application/jsonl\r\n\r\n")
	return f
}

func (f *uploadForm) write(text string) {
	if f.err == nil {
		_, f.err = f.spool.Write([]byte(text))
	}
}

// writeLine writes a line, with another body if there is one.
func (f *uploadForm) writeLine(line, body []byte) error {
	if body != nil {
		d := jsonedit.GetDoc()
		defer jsonedit.PutDoc(d)
		if err := jsonedit.Scan(line, d); err != nil {
			return err
		}
		line = d.Apply([]jsonedit.Edit{jsonedit.Set("body", body)})
	}
	f.write(string(bytes.ReplaceAll(line, []byte("\n"), []byte(" "))) + "\n")
	return f.err
}

// payload ends the form and returns it.
func (f *uploadForm) payload() (body io.Reader, size int64, contentType string, err error) {
	f.write("\r\n--" + f.boundary + "--\r\n")
	if f.err != nil {
		return nil, 0, "", f.err
	}
	p := f.spool.Payload()
	return p.Open(), p.Len(), "multipart/form-data; boundary=" + f.boundary, nil
}

func (f *uploadForm) close() { _ = f.spool.Close() } // an unnamed file: there is nothing to lose
