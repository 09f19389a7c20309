package gateway_test

import (
	"strings"
	"testing"
	"time"

	"github.com/redis/rueidis"

	"sluice/internal/gateway"
	"sluice/internal/gateway/guardrails/placeholder"
	"sluice/internal/gateway/guardrails/placeholder/vaultstore"
	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/sealed"
	"sluice/internal/limits/redistest"
	"sluice/internal/test/listen"
	"sluice/internal/test/upstream"
)

// addNode starts another gateway with the directory and the upstream of the rig, which keeps placeholders
// in Redis, and returns its address.
func (r *rig) addNode(t *testing.T, server string) string {
	t.Helper()
	shared := vaultstore.NewRedis(vaultstore.Options{
		Server: rueidis.ClientOption{InitAddress: []string{server}, ForceSingleClient: true}, Timeout: 5 * time.Second, Clock: ident.System{},
	})
	t.Cleanup(func() {
		if err := shared.Close(); err != nil {
			t.Error(err)
		}
	})
	for {
		if _, err := shared.Get(t.Context(), "caller/conversation"); err == nil {
			break
		} else if t.Context().Err() != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Millisecond)
	}
	box, err := sealed.NewBox([]byte("sealing key of the tests"))
	if err != nil {
		t.Fatal(err)
	}
	parts := r.parts
	parts.Vaults, err = placeholder.NewStore(placeholder.Options{
		Secret: []byte("placeholders of the tests"), Sealer: box, Backend: shared, TTL: time.Hour, Now: time.Now,
	})
	if err != nil {
		t.Fatal(err)
	}
	return listen.Start(t, gateway.New(parts, r.set)).URL
}

// A conversation goes on at another node, and at one that started later. A Redis that is down leaves the
// placeholder in the response, and the call succeeds.
func TestReversibleRedaction_EveryNodeRestores(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	wire := redistest.NewWire(t, server)
	r := newRig(t)
	r.echo("/v1/chat/completions", func(token string) upstream.Response { return chatResponse("to " + token) })
	first, second := r.addNode(t, server.Address), r.addNode(t, server.Address)
	cut := r.addNode(t, wire.Address)
	headers := []string{r.inline(hideMail), "x-gateway-trace-id: t1"}
	ask := func(base, text string, headers ...string) string {
		a := r.callAt(base, "POST", "/v1/chat/completions", `{"model":"gpt-4o-mini","messages":[{"role":"user","content":"`+text+`"}]}`, headers...)
		if a.StatusCode != 200 {
			t.Errorf("%d %s", a.StatusCode, a.Text)
		}
		return a.Text
	}
	if got := ask(first, "I am "+ann, headers...); !strings.Contains(got, `"to `+ann+`"`) {
		t.Errorf("in the same call: %s", got)
	}
	token := placeRE.FindString(string(r.up.Seen()[0].Body))
	for what, c := range map[string]struct {
		base    string
		headers []string
		want    string
	}{
		"another node":                    {second, headers, ann},
		"a node that started later":       {r.addNode(t, server.Address), headers, ann},
		"another caller":                  {second, append(headers[:2:2], "x-gateway-api-key: "+r.otherKey()), token},
		"another trace":                   {second, []string{headers[0], "x-gateway-trace-id: t2"}, token},
		"a node that has its own network": {cut, headers, ann},
	} {
		if got := ask(c.base, "repeat "+token, c.headers...); !strings.Contains(got, `"to `+c.want+`"`) {
			t.Errorf("%s: %s", what, got)
		}
	}
	wire.Cut()
	if got := ask(cut, "repeat "+token, headers...); !strings.Contains(got, `"to `+token+`"`) {
		t.Errorf("without Redis: %s", got)
	}
	if got := ask(cut, "I am "+ann, headers...); !strings.Contains(got, `"to `+ann+`"`) {
		t.Errorf("without Redis, in the same call: %s", got)
	}
	if log := r.log.String(); !strings.Contains(log, "cannot read the placeholders of earlier calls") || strings.Contains(log, ann) {
		t.Errorf("the log has %s", log)
	}
	server.Wipe(t)
	if got := ask(second, "repeat "+token, headers...); !strings.Contains(got, `"to `+token+`"`) {
		t.Errorf("after a flush: %s", got)
	}
	r.expectHidden(t, ann)
}
