package routing_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"sluice/internal/domain/routing"
	"sluice/internal/kernel/fault"
)

const three = `[{"provider":"@a"},{"provider":"@b"},{"provider":"@c"}]`

func TestFallback(t *testing.T) {
	t.Parallel()
	cut := errors.New("stream cut")
	status := func(s int) routing.Outcome { return routing.Outcome{Status: s} }
	skipped := routing.Outcome{Status: 501, Skipped: true, Err: fault.New(fault.NotSupported, "")}
	plain := branch(`{"mode":"fallback"}`, three)
	listed := branch(`{"mode":"fallback","on_status_codes":[429,246]}`, three)
	continued := `{"continue_stream":true,` + plain[1:]
	cases := []struct {
		name  string
		doc   string
		up    upstreams
		tried []string
		want  int
	}{
		{"first good", plain, nil, []string{"@a"}, 200},
		{"246 is good", plain, upstreams{"@a": status(246)}, []string{"@a"}, 246},
		{"second good", plain, upstreams{"@a": status(500)}, []string{"@a", "@b"}, 200},
		{"client error moves on", plain, upstreams{"@a": status(400)}, []string{"@a", "@b"}, 200},
		{"denial moves on", plain, upstreams{"@a": status(446)}, []string{"@a", "@b"}, 200},
		{"redirect moves on", plain, upstreams{"@a": status(304)}, []string{"@a", "@b"}, 200},
		{"no answer moves on", plain, upstreams{"@a": {Err: cut}}, []string{"@a", "@b"}, 200},
		{"malformed answer moves on", plain, upstreams{"@a": {Status: 200, Err: cut}}, []string{"@a", "@b"}, 200},
		{"last one's failure", plain, upstreams{"@a": status(500), "@b": status(429), "@c": status(503)}, []string{"@a", "@b", "@c"}, 503},
		{"listed", listed, upstreams{"@a": status(429)}, []string{"@a", "@b"}, 200},
		{"listed hook status", listed, upstreams{"@a": status(246)}, []string{"@a", "@b"}, 200},
		{"not listed", listed, upstreams{"@a": status(500)}, []string{"@a"}, 500},
		{"not served moves on", plain, upstreams{"@a": skipped}, []string{"@a", "@b"}, 200},
		{"not served moves on despite the list", listed, upstreams{"@a": skipped}, []string{"@a", "@b"}, 200},
		{"no answer moves on despite the list", listed, upstreams{"@a": {Err: cut}}, []string{"@a", "@b"}, 200},
		{"nobody serves it", listed, upstreams{"@a": skipped, "@b": skipped, "@c": skipped}, []string{"@a", "@b", "@c"}, 501},
		{"client gone", plain, upstreams{"@a": {Status: 499, Final: true, Err: cut}}, []string{"@a"}, 499},
		{"cut stream", plain, upstreams{"@a": {Status: 200, Committed: true, Err: cut}}, []string{"@a"}, 200},
		{"cut stream goes on", continued, upstreams{"@a": {Status: 200, Committed: true, Err: cut}}, []string{"@a", "@b"}, 200},
		{"whole stream", continued, upstreams{"@a": {Status: 200, Committed: true}}, []string{"@a"}, 200},
		{"committed failure status", plain, upstreams{"@a": {Status: 500, Committed: true}}, []string{"@a"}, 500},
		{"nested", branch(`{"mode":"fallback"}`, `[`+branch(`{"mode":"fallback"}`, `[{"provider":"@a"},{"provider":"@b"}]`)+`,{"provider":"@c"}]`),
			upstreams{"@a": status(500), "@b": status(500)}, []string{"@a", "@b", "@c"}, 200},
		{"nested committed", branch(`{"mode":"fallback"}`, `[`+branch(`{"mode":"single"}`, `[{"provider":"@a"}]`)+`,{"provider":"@c"}]`),
			upstreams{"@a": {Status: 200, Committed: true, Err: cut}}, []string{"@a"}, 200},
		{"conditional without match moves on", branch(`{"mode":"fallback","on_status_codes":[429]}`,
			`[`+branch(`{"mode":"conditional","conditions":[{"query":{"params.x":1},"then":"a"}]}`, two)+`,{"provider":"@c"}]`),
			nil, []string{"@c"}, 200},
		{"single", branch(`{"mode":"single"}`, three), upstreams{"@a": status(500)}, []string{"@a"}, 500},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			tried, out, err := c.up.run(t, routing.NewEngine(newClock(), draws()), parse(t, c.doc), nil)
			if err != nil || !slices.Equal(tried, c.tried) || out.Status != c.want {
				t.Errorf("tried %v, status %d, err %v", tried, out.Status, err)
			}
		})
	}
}

func TestFallbackStopsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	tries := 0
	out, err := routing.NewEngine(newClock(), draws()).Walk(ctx, parse(t, branch(`{"mode":"fallback"}`, three)), "s", nil,
		func(context.Context, *routing.Target) routing.Outcome {
			tries++
			cancel()
			return routing.Outcome{Status: 502, Err: ctx.Err()}
		})
	if tries != 1 || out.Status != 502 || err != nil {
		t.Errorf("%d tries, %+v, %v", tries, out, err)
	}
}

func TestConditionalErrorIsReturnedAtTheEnd(t *testing.T) {
	t.Parallel()
	doc := branch(`{"mode":"fallback"}`, `[{"provider":"@z"},`+branch(`{"mode":"conditional","conditions":[{"query":{"params.x":1},"then":"a"}]}`, two)+`]`)
	tried, out, err := upstreams{"@z": {Status: 500}}.run(t, routing.NewEngine(newClock(), draws()), parse(t, doc), nil)
	if !slices.Equal(tried, []string{"@z"}) || out.Status != 400 || !fault.Has(err, fault.InvalidRequest) || !errors.Is(out.Err, err) {
		t.Errorf("tried %v, out %+v, err %v", tried, out, err)
	}
}
