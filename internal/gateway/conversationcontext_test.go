package gateway_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"sluice/internal/domain/keys"
	"sluice/internal/limits/ledger"
	"sluice/internal/limits/quota"
	"sluice/internal/storage/sqlstore/storetest"
	"sluice/internal/test/upstream"
)

// What a provider keeps of a conversation is read again and paid again: a call that goes on
// from it holds what it came to, where this gateway answered before, and else for all that the
// model reads.
func TestWhatProvidersKeepIsHeldFor(t *testing.T) {
	t.Parallel()
	const usage = `"usage":{"input_tokens":5000,"output_tokens":700,"total_tokens":5700}`
	response := upstream.JSON(200, json.RawMessage(`{"id":"resp_A1","object":"response","status":"completed","output":[],`+usage+`}`))
	streamed := upstream.Stream(
		"event: response.created\ndata: "+`{"type":"response.created","response":{"id":"resp_A1","object":"response","status":"in_progress","output":[]}}`+"\n\n",
		"event: response.completed\ndata: "+`{"type":"response.completed","response":{"id":"resp_A1","object":"response","status":"completed","output":[],`+usage+`}}`+"\n\n",
	)
	uncounted := upstream.JSON(200, json.RawMessage(`{"id":"resp_A1","object":"response","status":"completed","output":[]}`))
	window := builtinPrices.ContextLimits("openai", "gpt-5.6-sol").Input
	if window < 100_000 {
		t.Fatalf("a window of %d", window)
	}
	const all = -1
	for _, c := range []struct {
		name          string
		first         upstream.Response
		member        string
		contextTokens int64 // beside the call itself
	}{
		{"known", response, `"previous_response_id":"resp_A1"`, 5700},
		{"known of a stream", streamed, `"previous_response_id":"resp_A1"`, 5700},
		{"of an own host", response, `"previous_response_id":"resp_A1"`, all},
		{"of another", response, `"previous_response_id":"resp_B2"`, all},
		{"not counted", uncounted, `"previous_response_id":"resp_A1"`, all},
		{"a conversation", response, `"conversation":{"id":"conv_1"}`, all},
		{"items", response, `"input":[{"type":"item_reference","id":"msg_1"},{"role":"user","content":"x"}]`, all},
		{"none", response, `"previous_response_id":null`, 0},
		{"no conversation", response, `"conversation":null`, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.limited(keys.Kind, r.keyID(), quota.Limits{Budgets: []quota.Budget{budget(quota.TokenCount, 10_000_000)}})
			customHost := c.name == "of an own host"
			r.up.Handle("/own/responses", upstream.Always(c.first))
			r.up.Handle("/v1/responses", upstream.InTurn(c.first, response))
			held := func(members string, customHost bool) int64 {
				t.Helper()
				before := len(r.journal.ledger())
				if a := r.call("POST", "/v1/responses", strings.Replace(`{"model":"gpt-5.6-sol","input":"x","max_output_tokens":16`+members+`}`, `"input":"x",`, map[bool]string{false: `"input":"x",`}[strings.Contains(members, `"input"`)], 1), "x-gateway-provider: openai", "authorization: Bearer sk-upstream", "x-gateway-custom-host: "+r.up.URL()+map[bool]string{false: "/v1", true: "/own"}[customHost]); a.StatusCode != 200 {
					t.Fatal(a.Text)
				}
				line := r.journal.ledger()[before]
				if line.State != ledger.Reserved || len(line.Charges) != 1 {
					t.Fatalf("%+v", line)
				}
				return line.Charges[0].Units
			}
			first := held(fmt.Sprintf(`,"stream":%v`, strings.Contains(c.name, "stream")), customHost)
			first -= int64(len(fmt.Sprintf(`,"stream":%v`, strings.Contains(c.name, "stream"))))
			want := first + int64(len(c.member)) + 1 + c.contextTokens
			if c.contextTokens == all {
				want = window + 16
			}
			if got := held(","+c.member, false); got != want {
				t.Errorf("%d tokens are held, want %d", got, want)
			}
		})
	}
}

// What the gateway keeps and puts back is held for and counted, also where the provider has
// responses of its own and gets the rest of the call as it came.
func TestWhatTheGatewayPutsBackIsPaid(t *testing.T) {
	t.Parallel()
	r := keeping(t, storetest.Open(t, storetest.SQLite(t)))
	const repeats = 4000
	id := idOf(t, r.call("POST", "/v1/responses", `{"model":"gemini-2.5-flash","input":"`+strings.Repeat("word ", repeats)+`"}`, r.gemini()...).Text)
	r.up.Handle("/v1/responses", upstream.Always(upstream.JSON(200, json.RawMessage(`{"id":"resp_1","object":"response","status":"completed","output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Hi"}]}]}`))))
	if a := r.call("POST", "/v1/responses", `{"model":"gpt-4o-mini","input":"Second","max_output_tokens":16,"previous_response_id":"`+id+`"}`, r.custom()...); a.StatusCode != 200 {
		t.Fatal(a.Text)
	}
	r.journal.mu.Lock()
	defer r.journal.mu.Unlock()
	last := r.journal.rows[len(r.journal.rows)-1]
	if s := last.Spend; s.State != "estimated" || s.Cost < repeats*miniInput || s.MaxCost < repeats*int64(len("word "))*miniInput || last.Usage.InputTokens < repeats {
		t.Errorf("%+v of %+v; want %d words and more", s, last.Usage, repeats)
	}
}
