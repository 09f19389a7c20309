package seed

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"sluice/internal/control/resource"
	"sluice/internal/domain/keys"
	"sluice/internal/domain/record"
	"sluice/internal/kernel/access"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/llm"
	"sluice/internal/limits/catalog"
	"sluice/internal/ops/bootstrap"
	"sluice/internal/ops/demo"
)

const (
	// seededFile marks a data directory that has its synthetic traffic. It is written before
	// the first record, so that a restart does not add the traffic again.
	seededFile = "demo-seeded"
	// trafficSeed makes the traffic the same in every demonstration.
	trafficSeed = 7
	// teamKeyPrefix is the prefix of the ids of the team keys; the last digit is missing.
	teamKeyPrefix = "0191f3a0-0000-7000-8000-00000000de1"
)

// Traffic adds synthetic traffic of the past days to the request log, once per data directory.
// Like the traffic of served requests, it goes through the journal.
type Traffic struct {
	Dir   string // the data directory
	Days  int    // at most demo.MaxTrafficDays
	Store resource.Store
	Keys  bootstrap.KeyMaker // makes a key for each team
	// FeedbackIndex returns the index entries of the feedback on a trace.
	FeedbackIndex func(traceID string) []resource.IndexEntry
	Journal       Journal
	Prices        Prices
	Clock         ident.Clock
	Log           *slog.Logger
}

// Journal accepts the records of requests.
type Journal interface {
	Append(a *record.Attempt) error
}

// Prices finds the rate card of a model; it returns one without prices for an unknown model.
type Prices interface {
	Find(provider, model string, a *catalog.PriceOverrides) *catalog.RateCard
}

// Run adds the traffic, waits until ctx ends and returns nil. It logs a failure: the gateway serves
// in any case.
func (t Traffic) Run(ctx context.Context) error {
	if err := t.addOnce(ctx); err != nil {
		t.Log.Warn("cannot add demo traffic; the log starts empty", "error", err.Error())
	}
	<-ctx.Done()
	return nil
}

func (t Traffic) addOnce(ctx context.Context) error {
	mark, err := os.OpenFile(filepath.Join(t.Dir, seededFile), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("mark data directory: %w", err)
	}
	if err := mark.Close(); err != nil {
		return fmt.Errorf("mark data directory: %w", err)
	}
	return t.add(ctx)
}

func (t Traffic) add(ctx context.Context) error {
	workspace, err := bootstrap.DefaultWorkspace(ctx, t.Store)
	if err != nil {
		return err
	}
	s := &seeder{t: t, workspace: workspace, keys: map[string]string{}, random: rand.New(rand.NewPCG(trafficSeed, 1))} //nolint:gosec // ids of examples
	if err := t.Store.InTx(ctx, func(tx resource.Tx) error { return s.teamKeys(ctx, tx) }); err != nil {
		return fmt.Errorf("create team keys: %w", err)
	}
	requests := demo.Traffic(trafficSeed, t.Clock.Now(), t.Days)
	feedbacks, err := s.append(ctx, requests)
	if err != nil {
		return err
	}
	err = t.Store.InTx(ctx, func(tx resource.Tx) error {
		for _, f := range feedbacks {
			if err := tx.Insert(ctx, f); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("store feedback: %w", err)
	}
	t.Log.Info("added demo traffic", "days", t.Days, "requests", len(requests), "feedback", len(feedbacks))
	return nil
}

// seeder converts synthetic requests to records. It derives their ids from the seed.
type seeder struct {
	t         Traffic
	workspace resource.Record
	keys      map[string]string // key ids by team
	random    *rand.Rand
}

// append writes the records of requests to the journal and returns the feedback of their users.
func (s *seeder) append(ctx context.Context, requests []demo.PastRequest) (feedbacks []resource.Record, err error) {
	for i := range requests {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		r := &requests[i]
		trace := s.id(r.Started)
		for _, attempt := range s.attempts(r, trace) { //nolint:contextcheck // price lists are read in the background
			if err := s.t.Journal.Append(attempt); err != nil {
				return nil, fmt.Errorf("store request: %w", err)
			}
		}
		if r.Feedback != 0 {
			feedbacks = append(feedbacks, s.feedback(r, trace))
		}
	}
	return feedbacks, nil
}

// id returns a UUID of version 7 that contains the time when.
func (s *seeder) id(when time.Time) string {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:8], uint64(when.UnixMilli())<<16|7<<12|uint64(s.random.Uint32()&0xfff))
	binary.BigEndian.PutUint64(b[8:], s.random.Uint64()&(1<<62-1)|1<<63)
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// teamKeys creates an API key for each team unless it exists. The raw value of the key is
// discarded.
func (s *seeder) teamKeys(ctx context.Context, tx resource.Tx) error {
	for i, team := range demo.Teams() {
		id := fmt.Sprintf("%s%d", teamKeyPrefix, i)
		s.keys[team] = id
		if _, err := tx.Find(ctx, keys.Kind, id); !fault.Has(err, fault.NotFound) {
			if err != nil {
				return err
			}
			continue
		}
		rec, err := s.t.Keys.MakeWithID(id, ident.NewKey(s.t.Keys.Prefix), keyName(team), access.WorkspaceService, s.workspace.OrgID, s.workspace.ID)
		if err != nil {
			return err
		}
		if err := tx.Insert(ctx, rec); err != nil {
			return err
		}
	}
	return nil
}

func keyName(team string) string { return "Team " + strings.ToUpper(team[:1]) + team[1:] }

// feedback returns the feedback record of the user of a request.
func (s *seeder) feedback(r *demo.PastRequest, trace string) resource.Record {
	body, _ := json.Marshal(record.Feedback{TraceID: trace, Value: r.Feedback, Weight: 1, KeyID: s.keys[r.Team]}) // strings and numbers: cannot fail
	when := r.Started.Add(time.Minute)
	return resource.Record{
		Kind: record.FeedbackKind, ID: s.id(when), OrgID: s.workspace.OrgID, WorkspaceID: s.workspace.ID, Status: resource.Active, Version: 1,
		Created: when, Updated: when, Body: body, Index: s.t.FeedbackIndex(trace),
	}
}

// attempts returns the records of a request, one per attempt.
func (s *seeder) attempts(r *demo.PastRequest, trace string) []*record.Attempt {
	out := make([]*record.Attempt, len(r.Attempts))
	started, request := r.Started, s.id(r.Started)
	for i := range r.Attempts {
		p := &r.Attempts[i]
		a := &record.Attempt{
			ID: s.id(started), RequestID: request, TraceID: trace, Number: int32(i), Started: started, Duration: p.Duration, FirstByte: p.FirstByte,
			OrgID: s.workspace.OrgID, WorkspaceID: s.workspace.ID, KeyID: s.keys[r.Team], KeyName: keyName(r.Team), ConfigID: "inline",
			TargetPath: fmt.Sprintf("config.targets[%d]", i), Provider: p.Provider, ProviderID: p.Provider, Model: p.Model, Endpoint: llm.ChatComplete,
			Method: "POST", Path: "/v1/chat/completions", Stream: r.Stream, CacheStatus: "DISABLED",
			Metadata: map[string]string{record.UserKey: r.User, "team": r.Team}, Remote: "127.0.0.1",
		}
		if p.CacheMiss {
			a.CacheStatus = "MISS"
		}
		s.outcome(a, p)
		s.bodies(a, r, p)
		out[i] = a
		started = started.Add(p.Duration)
	}
	return out
}

// outcome sets the status, the usage and the cost of an attempt.
func (s *seeder) outcome(a *record.Attempt, p *demo.PastAttempt) {
	a.Status, a.Upstream, a.Outcome = int32(p.Status), int32(p.Status), record.OK
	switch p.Status {
	case 200:
		a.ResponseModel = p.Model
		a.Usage = llm.Usage{InputTokens: p.Input, CachedTokens: p.Cached, OutputTokens: p.Output, TotalTokens: p.Input + p.Output, Reported: true}
		a.Spend = s.priceOf(a)
	case 0:
		a.Status, a.Outcome, a.Error = 408, record.Timeout, "the provider did not respond in time"
	default:
		a.Outcome = record.Failed
	}
	if a.Spend.State == "" {
		a.Spend.State = "released"
	}
}

// priceOf returns the cost of a call at the current prices.
func (s *seeder) priceOf(r *record.Attempt) record.Spend {
	var basis catalog.Basis
	units := basis.Units(r.Endpoint, &r.Usage)
	bill := s.t.Prices.Find(r.Provider, r.Model, nil).Cost(&units, nil)
	out := record.Spend{State: "settled", Cost: bill.Cost, Unpriced: bill.MissingPrice(), Version: bill.Version}
	if terms, err := json.Marshal(bill.Terms); err == nil && len(bill.Terms) > 0 {
		out.Terms = string(terms)
	}
	return out
}

// object is a JSON object in a body.
type object = map[string]any

// bodies sets the bodies of the request and the response. An attempt at Anthropic has bodies
// in the format of Anthropic, and in addition those of the client.
func (s *seeder) bodies(a *record.Attempt, r *demo.PastRequest, p *demo.PastAttempt) {
	request := object{"model": p.Model, "messages": []object{{"role": "user", "content": r.Prompt}}}
	answered := object{
		"id": "chatcmpl-" + a.ID, "object": "chat.completion", "created": a.Started.Unix(), "model": p.Model,
		"choices": []object{{"index": 0, "message": object{"role": "assistant", "content": r.ResponseText}, "finish_reason": "stop"}},
		"usage":   object{"prompt_tokens": p.Input, "completion_tokens": p.Output, "total_tokens": p.Input + p.Output},
	}
	if p.Status != 200 {
		answered = object{"error": object{"message": p.Error, "type": "provider_error"}}
	}
	a.Request, a.Response = jsonBody(request), jsonBody(answered)
	if p.Provider == "anthropic" {
		a.Translated, a.ClientRequest = true, a.Request
		a.Request = jsonBody(object{"model": p.Model, "max_tokens": 1024, "messages": request["messages"]})
		if p.Status == 200 {
			a.ClientResponse = a.Response
			a.Response = jsonBody(object{
				"id": "msg_" + a.ID, "type": "message", "role": "assistant", "model": p.Model, "stop_reason": "end_turn",
				"content": []object{{"type": "text", "text": r.ResponseText}}, "usage": object{"input_tokens": p.Input, "output_tokens": p.Output},
			})
		} else {
			a.Response = jsonBody(object{"type": "error", "error": object{"type": "api_error", "message": p.Error}})
		}
	}
	if p.Status == 0 {
		a.Response = record.Body{}
	}
	a.BytesIn, a.BytesOut = a.Request.Size, a.Response.Size
}

func jsonBody(value object) record.Body {
	b, _ := json.Marshal(value) // strings and numbers: cannot fail
	return record.Body{Type: "application/json", Bytes: b, Size: int64(len(b))}
}
