package gateway

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strconv"
	"sync"

	"sluice/internal/dialect"
	"sluice/internal/dialect/uploads"
	"sluice/internal/domain/batch"
	"sluice/internal/domain/guardrail"
	"sluice/internal/gateway/guardrails"
	"sluice/internal/gateway/guardrails/passage"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
	"sluice/internal/kernel/multipartedit"
	"sluice/internal/kernel/wire"
)

// batchLinesAtOnce is the number of lines of a batch that hooks judge at the same time.
const batchLinesAtOnce = 25

// judgeBatch runs the input hooks on each call of a batch that a provider will run: the lines of an
// uploaded file, or the requests in the body of an Anthropic batch. A denied call rejects the upload
// with its number. Changed calls replace the original ones. A managed batch judges its lines itself.
// Results of a provider's batch are not judged, so an enforced output guardrail that denies rejects the
// batch, unless the organisation allows content that cannot be read.
func (s *guardrailStep) judgeBatch(ctx context.Context, a *attempt) error {
	x := a.x
	if x.unjudgedForm != nil {
		x.form, x.unjudgedForm = x.unjudgedForm, nil
	}
	if s.engine == nil || x.batch != nil || x.match.Endpoint != llm.UploadFile && x.match.Endpoint != llm.CreateBatch {
		return nil
	}
	set := s.sets.find(s.engine, a)
	if set.Empty() {
		return nil
	}
	if err := checkBatchResults(a, set); err != nil {
		return err
	}
	ctx = s.serving(ctx, a, set.Before)
	j := &batchLines{step: s, attempt: a, hooks: set.Before}
	if x.memo == nil {
		x.memo = new(guardrails.Memo)
	}
	switch {
	case len(set.Before) == 0:
		return nil
	case x.form != nil:
		return j.judgeFile(ctx)
	case x.doc != nil:
		return j.judgeRequests(ctx)
	}
	return nil
}

// checkBatchResults rejects the creation of a batch if an enforced guardrail would have to judge its
// results.
func checkBatchResults(a *attempt, set *guardrails.Set) error {
	x := a.x
	if x.match.Endpoint != llm.CreateBatch || x.scope != nil && x.scope.PassUnreadable {
		return nil
	}
	for _, h := range set.After {
		if h.Enforced && h.Deny {
			return a.deny(&guardrails.Outcome{Message: guardrails.Unreadable(h) + "; batches with x-gateway-provider: gateway are judged"})
		}
	}
	return nil
}

// batchLines judges the calls of a batch.
type batchLines struct {
	step    *guardrailStep
	attempt *attempt
	hooks   []*guardrails.Hook
	group   []*batchLine
	changed bool
	out     io.Writer // receives the lines after the hooks
}

// batchLine is a call in a batch.
type batchLine struct {
	number int    // from 1
	text   []byte // of the line
	member string // that contains the call; empty for a line without one
	shape  string // of the call
	out    *guardrails.Outcome
	err    error
}

// callMembers are the members that contain the call of a line, by format of the provider: OpenAI and
// Mistral, Anthropic, Google, Bedrock.
var callMembers = [...]string{"body", "params", "request", "modelInput"}

// readBatchLine finds the call of a line.
func readBatchLine(number int, text []byte) *batchLine {
	l := &batchLine{number: number, text: text}
	for _, member := range callMembers {
		body, _ := jsonedit.Find(text, member)
		if len(body) == 0 || body[0] != '{' {
			continue
		}
		l.member = member
		switch member {
		case "params":
			l.shape = string(llm.Messages)
		case "request":
			l.shape = passage.Google
		case "modelInput":
			l.shape = shapeOf(body, llm.Messages)
		default:
			l.shape = shapeOf(body, llm.ChatComplete)
			if e, ok := batch.EndpointOf(jsonedit.Text(text, "url")); ok {
				l.shape = string(e)
			}
		}
		return l
	}
	return l
}

// shapeOf returns the shape of a call by its members: conversation for a list of messages.
func shapeOf(body []byte, conversation llm.Endpoint) string {
	for _, m := range [...]struct {
		name  string
		shape llm.Endpoint
	}{{"messages", conversation}, {"prompt", llm.Complete}, {"input", llm.Embed}} {
		if _, ok := jsonedit.Find(body, m.name); ok {
			return string(m.shape)
		}
	}
	return unknownShape
}

// judgeFile judges the lines of an uploaded file. Files of every purpose are judged, because a provider
// may accept any of them as the input of a batch. Lines without a call pass.
func (j *batchLines) judgeFile(ctx context.Context) error {
	x := j.attempt.x
	u, err := uploads.Read(&dialect.Request{Form: x.form})
	if err != nil {
		return err
	}
	spool := wire.NewSpool(j.step.spoolDir)
	x.made = append(x.made, spool)
	before, after := u.File.Off, x.form.Payload().Len()-u.File.Off-u.File.Len
	form := x.form.Payload().Open()
	if _, err := io.CopyN(spool, form, before); err != nil {
		return fault.Wrap(fault.Internal, err)
	}
	j.out = spool
	if err := j.judgeAll(ctx, u); err != nil {
		if u.Purpose != "batch" && fault.Has(err, fault.TooLarge) { // a line this long is not one of a batch
			return nil
		}
		return err
	}
	if !j.changed {
		return nil
	}
	if _, err := io.CopyN(io.Discard, form, u.File.Len); err != nil {
		return fault.Wrap(fault.Internal, err)
	}
	if _, err := io.CopyN(spool, form, after); err != nil {
		return fault.Wrap(fault.Internal, err)
	}
	return j.replaceForm(spool)
}

// judgeAll judges all lines of a file.
func (j *batchLines) judgeAll(ctx context.Context, u *uploads.Upload) error {
	err := uploads.EachLine(u.Content().Open(), func(n int, line []byte) error {
		l := readBatchLine(n, bytes.Clone(line))
		if l.shape == unknownShape && u.Purpose != "batch" {
			l.member = "" // data of another kind
		}
		return j.add(ctx, l)
	})
	if err != nil {
		return err
	}
	return j.flush(ctx)
}

// replaceForm makes the form with the changed file the form of the attempt.
func (j *batchLines) replaceForm(changed *wire.Spool) error {
	x, copied := j.attempt.x, wire.NewSpool(j.step.spoolDir)
	x.made = append(x.made, copied)
	f, err := multipartedit.Read(changed.Payload().Open(), x.ctl.ContentType, copied, multipartedit.Limits{Total: changed.Len() + 1})
	if err != nil {
		return fault.Wrap(fault.Internal, err)
	}
	x.unjudgedForm, x.form = x.form, f
	return nil
}

// judgeRequests judges the requests of an Anthropic batch:
// {"requests":[{"custom_id":"1","params":{…}}]}.
func (j *batchLines) judgeRequests(ctx context.Context) error {
	x := j.attempt.x
	list, ok := x.doc.Raw("requests")
	if !ok {
		return nil
	}
	var out bytes.Buffer
	j.out = &out
	n := 0
	for request := range jsonedit.Elements(list) {
		n++
		if err := j.add(ctx, readBatchLine(n, request)); err != nil {
			return err
		}
	}
	if err := j.flush(ctx); err != nil || !j.changed {
		return err
	}
	text := bytes.ReplaceAll(bytes.TrimSpace(out.Bytes()), []byte("\n"), []byte(","))
	return j.step.replaceRequest(j.attempt, x.doc.Apply([]jsonedit.Edit{jsonedit.Set("requests", append(append([]byte("["), text...), ']'))}))
}

// add adds a line to the group that is judged together.
func (j *batchLines) add(ctx context.Context, l *batchLine) error {
	if j.group = append(j.group, l); len(j.group) < batchLinesAtOnce {
		return nil
	}
	return j.flush(ctx)
}

// flush judges the lines of the group and writes them.
func (j *batchLines) flush(ctx context.Context) error {
	var all sync.WaitGroup
	for _, l := range j.group {
		if l.member != "" {
			all.Go(func() { j.judge(ctx, l) })
		}
	}
	all.Wait()
	for _, l := range j.group {
		if err := j.write(ctx, l); err != nil {
			return err
		}
	}
	j.group = j.group[:0]
	return nil
}

// judge runs the hooks on the call of a line.
func (j *batchLines) judge(ctx context.Context, l *batchLine) {
	body, _ := jsonedit.Find(l.text, l.member)
	c := j.step.call(j.attempt)
	c.Endpoint, c.Shape, c.Request, c.Streaming = llm.Endpoint(l.shape), l.shape, body, false
	if model := jsonedit.Text(body, "model"); model != "" {
		c.Model = model
	}
	c.Memo = j.attempt.x.memo
	if l.out, l.err = j.step.engine.Run(ctx, j.hooks, c, guardrail.Input, 0, body); l.err == nil {
		l.err = l.out.Unpaid
	}
}

// write writes a line after the hooks, or returns the error of a denied one.
func (j *batchLines) write(ctx context.Context, l *batchLine) error {
	text := l.text
	switch {
	case l.err != nil:
		return clientGone(ctx, l.err)
	case l.out == nil: // a line without a call
	case l.out.Denied:
		j.attempt.results.Before = l.out.Results
		err := j.attempt.deny(l.out)
		f := fault.From(err)
		return fault.New(f.Code, "line "+strconv.Itoa(l.number)+" of the batch: "+f.Text()).WithParam("file")
	case l.out.Body != nil:
		d := jsonedit.GetDoc()
		defer jsonedit.PutDoc(d)
		if err := jsonedit.Scan(text, d); err != nil {
			return fault.Wrap(fault.Internal, errors.Join(errors.New("a judged line cannot be changed"), err))
		}
		text, j.changed = d.Apply([]jsonedit.Edit{jsonedit.Set(l.member, l.out.Body)}), true
	}
	_, err := j.out.Write(append(bytes.ReplaceAll(text, []byte("\n"), []byte(" ")), '\n'))
	return err
}
