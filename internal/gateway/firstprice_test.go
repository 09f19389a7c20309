package gateway_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"sluice/internal/kernel/ident"
	"sluice/internal/limits/catalog"
	"sluice/internal/test/upstream"
)

// A call that came before the price list of its provider was read costs what that says, if it
// was read before the call ended. So does one that may be answered by another model.
func TestFirstCallIsBilledByTheListOfItsProvider(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"one model":     capped,
		"several":       `{"model":"gpt-4o","models":["gpt-4o-mini"],"max_tokens":100,"messages":[{"role":"user","content":"Hello there"}]}`,
		"a late source": capped,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			list := `{"default":{"pricing_config":{"currency":"USD"}},"gpt-4o-mini":{"pricing_config":{"pay_as_you_go":{"request_token":{"price":0.001},"response_token":{"price":0.002}}}}}`
			if err := os.WriteFile(filepath.Join(dir, "openai.json"), []byte(list), 0o600); err != nil {
				t.Fatal(err)
			}
			prices := catalog.NewPriceList(catalog.New(ident.System{}, slog.New(slog.DiscardHandler), catalog.Dirs(dir, ""), catalog.Builtin()))
			r := newRig(t)
			r.gateway.Prices, r.journal.prices = prices, prices
			r.gateway.Reassemble()
			late := name == "a late source"
			r.up.Handle("/v1/chat/completions", func(upstream.Seen) *upstream.Response {
				if prices.Loaded("openai") {
					t.Error("the list was there when the call was sent")
				}
				if !late {
					prices.Renew(t.Context())
				}
				a := chatOf(20, 10)
				return &a
			})
			if a := r.call("POST", "/v1/chat/completions", body, r.custom()...); a.StatusCode != 200 {
				t.Fatal(a.Text)
			}
			want := int64(20*10_000 + 10*20_000)
			if late {
				want = 20*miniInput + 10*miniOutput
			}
			if s := r.journal.one(t).Spend; s.Cost != want {
				t.Errorf("the call cost %d, want %d: %s", s.Cost, want, s.Terms)
			}
		})
	}
}
