package gateway_test

import (
	"context"
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"sluice/internal/domain/keys"
	"sluice/internal/domain/record"
	"sluice/internal/kernel/llm"
	"sluice/internal/limits/ledger"
	"sluice/internal/limits/quota"
)

const (
	hears             = `{"type":"session.updated","session":{"type":"realtime","audio":{"input":{"format":{"type":"audio/pcm","rate":24000},"transcription":{"model":"gpt-4o-transcribe"}}}}}`
	hearsOld          = `{"type":"transcription_session.updated","session":{"input_audio_format":"g711_ulaw","input_audio_transcription":{"model":"whisper-1"}}}`
	taken             = `{"type":"input_audio_buffer.committed","item_id":"item_a"}`
	deltaEvent        = `{"type":"conversation.item.input_audio_transcription.delta","item_id":"item_a","delta":"one two three"}`
	transcribed       = `{"type":"conversation.item.input_audio_transcription.completed","item_id":"item_a","transcript":"one two three","usage":{"type":"tokens","total_tokens":30,"input_tokens":22,"input_token_details":{"text_tokens":2,"audio_tokens":20},"output_tokens":8}}`
	timed             = `{"type":"conversation.item.input_audio_transcription.completed","item_id":"item_a","transcript":"one two three","usage":{"type":"duration","seconds":2.5}}`
	unsaid            = `{"type":"conversation.item.input_audio_transcription.completed","item_id":"item_a","transcript":"one two three"}`
	misheard          = `{"type":"conversation.item.input_audio_transcription.failed","item_id":"item_a","error":{"message":"no speech"}}`
	transcribeTextIn  = 2_500 // nano-dollars a token of gpt-4o-transcribe
	transcribeAudioIn = 6_000
	transcribeOut     = 10_000
	transcribeSecond  = 100_000 // of whisper-1
)

// speech is two seconds of what a caller says, of 24,000 samples each.
var speech = `{"type":"input_audio_buffer.append","audio":"` + base64.StdEncoding.EncodeToString(make([]byte, 96_000)) + `"}`

// sendEvents sends events of a caller.
func sendEvents(t *testing.T, ctx context.Context, c *websocket.Conn, events ...string) {
	t.Helper()
	for _, e := range events {
		if err := c.Write(ctx, websocket.MessageText, []byte(e)); err != nil {
			t.Fatal(err)
		}
	}
}

// What is transcribed beside a conversation is an attempt of its own: on the ledger when
// the speech is taken, on record with what its model costs when the text is there.
func TestTranscriptionOfAConversationIsBilled(t *testing.T) {
	t.Parallel()
	const estimate = 20*transcribeAudioIn + 3*transcribeOut
	for name, c := range map[string]struct {
		events  []string
		outcome record.Outcome
		state   ledger.State
		cost    int64
		model   string
	}{
		"by tokens":       {[]string{hears, taken, deltaEvent, transcribed}, record.OK, ledger.Settled, 2*transcribeTextIn + 20*transcribeAudioIn + 8*transcribeOut, "gpt-4o-transcribe"},
		"by its length":   {[]string{hearsOld, taken, timed}, record.OK, ledger.Settled, 5 * transcribeSecond / 2, "whisper-1"},
		"uncounted":       {[]string{hears, taken, unsaid}, record.OK, ledger.Estimated, estimate, "gpt-4o-transcribe"},
		"length untold":   {[]string{hearsOld, taken, unsaid}, record.OK, ledger.Estimated, 12 * transcribeSecond, "whisper-1"}, // at 8,000 bytes a second
		"without success": {[]string{hears, taken, misheard}, record.Failed, ledger.Released, 0, "gpt-4o-transcribe"},
		"never finished":  {[]string{hears, taken, deltaEvent}, record.Truncated, ledger.Estimated, estimate, "gpt-4o-transcribe"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
			defer stop()
			r := newRig(t)
			plan := r.limited(keys.Kind, r.keyID(), quota.Limits{Budgets: []quota.Budget{budget(quota.Cost, 100)}})
			conn := r.converse(t, ctx, talker(t, c.events[:1], c.events[1:]))
			readUntil(t, ctx, conn, "session")
			sendEvents(t, ctx, conn, speech)
			readUntil(t, ctx, conn, `"item_a"`)
			if last := c.events[len(c.events)-1]; last != taken {
				readUntil(t, ctx, conn, last)
			}
			if err := conn.Close(websocket.StatusNormalClosure, "bye"); err != nil {
				t.Error(err)
			}
			rows, lines := r.journal.some(t, 2), r.journal.ledger()
			one, sessionRow := rows[0], rows[1]
			if one.Endpoint != llm.CreateTranscription || one.Model != c.model || one.Outcome != c.outcome || one.Spend.State != c.state.String() || one.Spend.Cost != c.cost {
				t.Errorf("%s of %s %s: %+v, %+v", one.Endpoint, one.Model, one.Outcome, one.Spend, one.Usage)
			}
			if one.RequestID != sessionRow.RequestID || one.ID == sessionRow.ID || sessionRow.Endpoint != llm.Realtime || sessionRow.Outcome != record.OK || sessionRow.Spend.Cost != 0 {
				t.Errorf("the conversation: %+v", sessionRow)
			}
			if len(lines) != 2 || lines[0].State != ledger.Reserved || lines[0].ID != one.ID || lines[0].Amount < c.cost || lines[0].Model != c.model ||
				lines[1].State != c.state || lines[1].ID != one.ID || lines[1].Amount != c.cost {
				t.Errorf("ledger: %+v", lines)
			}
			if s := r.limiter.State(time.Now(), &plan.Budgets[0]); s.Held != 0 || s.Used != c.cost {
				t.Errorf("the budget: %+v", s)
			}
		})
	}
}

// A conversation whose speech nobody transcribes has no such lines, and one whose budget
// has no room for it ends.
func TestTranscriptionAtALimit(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
	defer stop()
	r := newRig(t)
	r.limited(keys.Kind, r.keyID(), quota.Limits{Budgets: []quota.Budget{budget(quota.TokenCount, 100)}})
	off := `{"type":"session.updated","session":{"audio":{"input":{"transcription":null}}}}`
	conn := r.converse(t, ctx, talker(t, []string{hears, off}, []string{taken}, []string{hears}, []string{taken}))
	readUntil(t, ctx, conn, "null")
	sendEvents(t, ctx, conn, speech)
	readUntil(t, ctx, conn, "item_a")
	if lines := r.journal.ledger(); len(lines) != 0 {
		t.Errorf("ledger: %+v", lines)
	}
	sendEvents(t, ctx, conn, speech)
	readUntil(t, ctx, conn, "gpt-4o-transcribe")
	sendEvents(t, ctx, conn, speech)
	if e := readUntil(t, ctx, conn, `"type":"error"`); !strings.Contains(e, "api_key_exhaust_error") {
		t.Error(e)
	}
	if _, _, err := conn.Read(ctx); websocket.CloseStatus(err) != websocket.StatusPolicyViolation {
		t.Errorf("closed by %v", err)
	}
	if row := r.journal.one(t); row.Endpoint != llm.Realtime || row.Outcome != record.Refused || len(r.journal.ledger()) != 0 {
		t.Errorf("%s %s: %d lines", row.Endpoint, row.Outcome, len(r.journal.ledger()))
	}
}

// Speech that is transcribed at the same time is held apart, and given up at the end.
func TestTranscriptionsAtOnce(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
	defer stop()
	r := newRig(t)
	plan := r.limited(keys.Kind, r.keyID(), quota.Limits{Budgets: []quota.Budget{budget(quota.Cost, 100)}})
	var many []string
	for range 70 { // more than are kept
		many = append(many, taken)
	}
	conn := r.converse(t, ctx, talker(t, []string{hears}, many, []string{transcribed}))
	readUntil(t, ctx, conn, "session")
	sendEvents(t, ctx, conn, speech, speech)
	readUntil(t, ctx, conn, "completed")
	if s := r.limiter.State(time.Now(), &plan.Budgets[0]); s.Held == 0 || s.Used == 0 {
		t.Errorf("meanwhile: %+v", s)
	}
	if err := conn.Close(websocket.StatusNormalClosure, "bye"); err != nil {
		t.Error(err)
	}
	ids := map[string]bool{}
	for _, row := range r.journal.some(t, 71) {
		ids[row.ID] = true
	}
	if s := r.limiter.State(time.Now(), &plan.Budgets[0]); len(ids) != 71 || len(r.journal.ledger()) != 140 || s.Held != 0 {
		t.Errorf("%d records, %d lines: %+v", len(ids), len(r.journal.ledger()), s)
	}
}
