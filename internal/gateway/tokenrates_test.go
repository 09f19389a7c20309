package gateway_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"sluice/internal/domain/credential"
	"sluice/internal/domain/keys"
	"sluice/internal/domain/tenant"
	"sluice/internal/limits/ledger"
	"sluice/internal/limits/quota"
	"sluice/internal/limits/redistest"
	"sluice/internal/test/upstream"
)

// saveProvider gives the rig a saved provider at an upstream, and returns the headers that
// name it.
func saveProvider(r *rig, up *upstream.Server) []string {
	r.dir.accounts["own"] = &credential.Account{
		Slug: "own", Status: "active", AllModels: true, Kind: credential.ProviderKind, RecordID: "p-own", IntegrationID: "i-own", Spec: "openai",
		Values: map[string]string{"key": "k", "custom_host": up.URL() + "/v1"},
	}
	return []string{"x-gateway-provider: @own"}
}

// callConcurrently has calls of 120 tokens at once, of which the upstream answers none until each of
// them is with it or refused, and returns how many were served. Gateways take turns.
func callConcurrently(t *testing.T, up *upstream.Server, calls int, body string, gateways ...*rig) (served int64) {
	t.Helper()
	var mu sync.Mutex // guards the counts
	inside, refused, all := 0, 0, make(chan struct{})
	arrived := func(n *int) {
		mu.Lock()
		defer mu.Unlock()
		*n++
		if inside+refused == calls {
			close(all)
		}
	}
	up.Handle("/v1/chat/completions", func(upstream.Seen) *upstream.Response {
		arrived(&inside)
		<-all
		a := chatOf(20, 100)
		return &a
	})
	var headers []string
	for _, r := range gateways { // before the calls, which read the providers
		headers = saveProvider(r, up)
	}
	var wg sync.WaitGroup
	for i := range calls {
		r := gateways[i%len(gateways)]
		wg.Go(func() {
			switch a := r.call("POST", "/v1/chat/completions", body, headers...); a.StatusCode {
			case http.StatusOK:
			case http.StatusTooManyRequests:
				arrived(&refused)
			default:
				t.Error(a.StatusCode, a.Text)
				arrived(&refused)
			}
		})
	}
	wg.Wait()
	return int64(inside)
}

// thousand is a rate of 1,000 tokens.
var thousand = quota.Limits{Rates: []quota.Rate{{Type: quota.Tokens, Unit: quota.PerWeek, Value: 1000}}}

// A rate of tokens serves at once what fits, on whatever it stands, on one node and on two.
func TestTokenRatesServeWhatFits(t *testing.T) {
	t.Parallel()
	carriers := map[string]func(r *rig){
		"a key":          func(r *rig) { r.limited(keys.Kind, r.keyID(), thousand) },
		"a workspace":    func(r *rig) { r.limited(tenant.WorkspaceKind, workspace, thousand) },
		"a provider":     func(r *rig) { r.limited(credential.ProviderKind, "p-own", thousand) },
		"an integration": func(r *rig) { r.limited(quota.IntegrationWorkspace, "i-own/"+workspace, thousand) },
		"a policy": func(r *rig) {
			p := quota.RateLimit{Conditions: []quota.Condition{{Key: "workspace_id", Value: quota.Values{workspace}}}, Type: quota.Tokens, Unit: quota.PerWeek, Value: 1000}
			r.dir.policies = &quota.Policies{Rates: []*quota.Policy{p.Compile("0191f3a0-0000-7000-8000-0000000000ab")}}
		},
	}
	for name, limit := range carriers {
		for _, nodes := range []string{"alone", "with Redis", "two nodes"} {
			if nodes == "two nodes" && name == "a key" { // each rig has a key of its own
				continue
			}
			t.Run(name+", "+nodes, func(t *testing.T) {
				t.Parallel()
				first := newRig(t)
				gateways := []*rig{first}
				if nodes == "two nodes" {
					gateways = append(gateways, newRig(t))
				}
				var redisServer *redistest.Server
				if nodes != "alone" {
					redisServer = redistest.Start(t)
				}
				for _, r := range gateways {
					if limit(r); redisServer != nil {
						r.share(redisServer)
					}
				}
				served := callConcurrently(t, first.up, 100, capped, gateways...)
				if served < 5 || served*120 > 1000 {
					t.Errorf("%d calls of 120 tokens were served of a limit of 1000", served)
				}
			})
		}
	}
}

// A call that does not say how long its answer may become takes what is left of a rate of
// tokens while it is under way, and gives it back.
func TestUnboundedCallTakesTheRestOfATokenRate(t *testing.T) {
	t.Parallel()
	for _, shared := range []bool{false, true} {
		r := newRig(t)
		if shared {
			r.share(redistest.Start(t))
		}
		plan := r.limited(keys.Kind, r.keyID(), thousand)
		if served := callConcurrently(t, r.up, 20, hello, r); served != 1 {
			t.Errorf("shared %v: %d calls at once of any length were served", shared, served)
		}
		h := plan.Rates[0]
		h.Org = org
		until(t, "the call gives back what it did not use", func() bool {
			s := r.gateway.Limiter.State(time.Now(), &h)
			return s.Used == 120 && s.Held == 0
		})
		r.up.Handle("/v1/chat/completions", upstream.Always(chatOf(20, 100)))
		for i := range 12 { // one behind another they pass until the limit is reached
			until(t, "the call before gave back what it did not use", func() bool {
				ask := h
				ask.Amount = 1 << 50 // never fits, so nothing is taken
				_, left, _, err := r.gateway.Limiter.Reserve(t.Context(), time.Now(), []quota.Hold{ask})
				return err == nil && left == max(1000-int64(min(i, 8)+1)*120, 0)
			})
			want := 200
			if i >= 8 {
				want = 429
			}
			if a := r.call("POST", "/v1/chat/completions", hello, r.custom()...); a.StatusCode != want {
				t.Errorf("shared %v: call %d: %d %s", shared, i, a.StatusCode, a.Text)
			}
		}
	}
}

// The refusal of a token rate of the key says what the call may use and what is left, in
// the form that the contract has for the limits of a caller.
func TestTokenRateRefusalSaysWhatIsLeft(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.limited(keys.Kind, r.keyID(), thousand)
	a := r.call("POST", "/v1/chat/completions", strings.Replace(capped, "100", "2000", 1), r.custom()...)
	for _, want := range []string{`"status":"failure"`, `"code":"05"`, "1000 tokens a week", "1000 are left", "max_tokens"} {
		if a.StatusCode != 429 || !strings.Contains(a.Text, want) {
			t.Errorf("%d %s lacks %s", a.StatusCode, a.Text, want)
		}
	}
	if a.Header.Get("x-should-retry") != "false" {
		t.Error("a retry that cannot help is advised")
	}
}

// What a try used that was given up counts on rates of tokens, too.
func TestGivenUpTriesCountOnTokenRates(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	plan := r.limited(keys.Kind, r.keyID(), thousand)
	cut := upstream.Response{End: upstream.Cut, Raw: []byte("HTTP/1.1 200 O")}
	r.up.Handle("/v1/chat/completions", upstream.InTurn(cut, chatOf(20, 48)))
	r.call("POST", "/v1/chat/completions", capped, "x-gateway-config: "+`{"retry":{"attempts":1},"provider":"openai","api_key":"k","custom_host":"`+r.up.URL()+`/v1"}`)
	tries := 0
	for _, l := range r.journal.ledger() {
		if l.State == ledger.Settled || l.State == ledger.Estimated {
			tries++
		}
	}
	if s := r.limiter.State(time.Now(), &plan.Rates[0]); tries != 2 || s.Used <= 68 || s.Held != 0 {
		t.Errorf("%d tries were charged, and of the rate %+v", tries, s)
	}
}
