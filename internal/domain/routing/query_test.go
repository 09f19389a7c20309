package routing_test

import (
	"fmt"
	"strings"
	"testing"

	"sluice/internal/domain/routing"
	"sluice/internal/kernel/fault"
)

func TestConditions(t *testing.T) {
	t.Parallel()
	r := request{
		metadata: map[string]string{"tier": "gold", "age": "42", "empty": "", "odd": "0x1p4", "far": "infinity"},
		params: map[string]any{"model": "gpt-4o-mini", "temperature": 0.5, "max_tokens": 100.0, "stream": true, "stop": nil,
			"tools": []any{"a"}, "response_format": map[string]any{"type": "text"}},
		path: "/v1/chat/completions",
	}
	r.params["prompt"] = strings.Repeat("a", 16<<10) + "b"
	r.params["short"], r.params["long"] = strings.Repeat("a", 200)+"b", strings.Repeat("a", 1000)+"b"
	large := `{"params.none":{"$regex":"` + strings.Repeat("c{250}", 18) + `"}}` // nine thousand instructions
	cases := []struct {
		query string
		want  bool
	}{
		{`{"metadata.tier":"gold"}`, true},
		{`{"metadata.tier":"Gold"}`, false},
		{`{"metadata.nobody":"gold"}`, false},
		{`{"metadata.empty":""}`, true},
		{`{"params.stream":true}`, true},
		{`{"params.stream":"true"}`, false},
		{`{"params.max_tokens":100}`, true},
		{`{"params.max_tokens":1e2}`, true},
		{`{"params.max_tokens":"100"}`, false},
		{`{"metadata.age":42}`, false},
		{`{"params.stop":null}`, true},
		{`{"params.nothing":null}`, false},
		{`{"params.tools":"a"}`, false},
		{`{"params.response_format":null}`, false},
		{`{"url.pathname":"/v1/chat/completions"}`, true},
		{`{"url.pathname":{"$regex":"/embeddings$"}}`, false},
		{`{"metadata.tier":{"$eq":"gold"}}`, true},
		{`{"metadata.tier":{"$ne":"gold"}}`, false},
		{`{"metadata.nobody":{"$ne":"gold"}}`, true},
		{`{"params.tools":{"$ne":"a"}}`, true},
		{`{"metadata.age":{"$gt":41.5}}`, true},
		{`{"metadata.age":{"$gt":"42"}}`, false},
		{`{"metadata.age":{"$gte":42}}`, true},
		{`{"params.temperature":{"$lt":0.6}}`, true},
		{`{"params.temperature":{"$lte":0.4}}`, false},
		{`{"params.temperature":{"$gte":0.5,"$lte":0.5}}`, true},
		{`{"metadata.tier":{"$gt":0}}`, false},
		{`{"metadata.empty":{"$lt":1}}`, false},
		{`{"metadata.odd":{"$gt":1}}`, false},
		{`{"metadata.far":{"$gt":1}}`, false},
		{`{"params.nothing":{"$lt":1}}`, false},
		{`{"params.stream":{"$gte":0}}`, false},
		{`{"metadata.tier":{"$in":["silver","gold"]}}`, true},
		{`{"params.max_tokens":{"$in":["100"]}}`, false},
		{`{"metadata.nobody":{"$in":[null]}}`, false},
		{`{"metadata.tier":{"$in":[]}}`, false},
		{`{"metadata.tier":{"$nin":["silver"]}}`, true},
		{`{"metadata.tier":{"$nin":["gold"]}}`, false},
		{`{"metadata.nobody":{"$nin":["gold"]}}`, true},
		{`{"params.model":{"$regex":"4o"}}`, true},
		{`{"params.model":{"$regex":"^4o"}}`, false},
		{`{"params.model":{"$regex":"GPT"}}`, false},
		{`{"params.model":{"$regex":"(?i)GPT"}}`, true},
		{`{"params.max_tokens":{"$regex":"1"}}`, false},
		{`{"params.prompt":{"$regex":"^a{1000}"}}`, true},
		{`{"params.prompt":{"$regex":"b"}}`, false}, // behind the part that is looked at
		{`{"params.model":{"$regex":"4o","$ne":"gpt-4o-mini"}}`, false},
		{`{"$or":[{"params.long":{"$regex":"b"}}]}`, true},
		{`{"$or":[{"params.long":{"$regex":"b"}},` + large + `]}`, false}, // of less is looked at
		{`{"$or":[{"params.short":{"$regex":"b"}},` + large + `]}`, true},
		{`{"metadata.tier":"gold","params.stream":false}`, false},
		{`{"$and":[{"metadata.tier":"gold"},{"params.stream":true}]}`, true},
		{`{"$and":[{"metadata.tier":"gold"},{"params.stream":false}]}`, false},
		{`{"$or":[{"metadata.tier":"silver"},{"params.stream":true}]}`, true},
		{`{"$or":[{"metadata.tier":"silver"},{"params.stream":false}]}`, false},
		{`{"$or":[{"params.stream":true}],"metadata.tier":"silver"}`, false},
		{`{"$or":[{"$and":[{"metadata.age":{"$gt":40}},{"metadata.tier":{"$in":["gold"]}}]}]}`, true},
	}
	e := routing.NewEngine(newClock(), draws())
	for _, c := range cases {
		t.Run(c.query, func(t *testing.T) {
			t.Parallel()
			cfg := parse(t, fmt.Sprintf(`{"strategy":{"mode":"conditional","conditions":[{"query":%s,"then":"yes"}],"default":"no"},
				"targets":[{"name":"yes","provider":"@yes"},{"name":"no","provider":"@no"}]}`, c.query))
			tried, _, err := upstreams{}.run(t, e, cfg, r)
			if err != nil || len(tried) != 1 || (tried[0] == "@yes") != c.want {
				t.Errorf("tried %v, err %v", tried, err)
			}
		})
	}
}

func TestConditionalOrder(t *testing.T) {
	t.Parallel()
	const targets = `[{"name":"a","provider":"@a"},{"name":"b","provider":"@b"}]`
	const conditions = `"conditions":[{"query":{"metadata.x":"1"},"then":"b"},{"query":{"metadata.y":"1"},"then":"a"}]`
	e := routing.NewEngine(newClock(), draws())
	cases := []struct {
		name     string
		metadata map[string]string
		want     string
	}{
		{"first wins", map[string]string{"x": "1", "y": "1"}, "@b"},
		{"second", map[string]string{"y": "1"}, "@a"},
		{"none", nil, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			tried, out, err := upstreams{}.run(t, e, parse(t, branch(`{"mode":"conditional",`+conditions+`}`, targets)), request{metadata: c.metadata})
			if c.want != "" {
				if err != nil || len(tried) != 1 || tried[0] != c.want {
					t.Errorf("tried %v, err %v", tried, err)
				}
			} else if !fault.Has(err, fault.InvalidRequest) || out.Status != 400 || len(tried) != 0 {
				t.Errorf("tried %v, out %+v, err %v", tried, out, err)
			}
		})
	}
}

// counted counts how often a field of the body is asked for.
type counted struct {
	request
	times *int
}

func (c counted) Param(k string) (any, bool) { *c.times++; return c.request.Param(k) }

// A field of the body is decoded once, however many conditions look at it: both may be large.
func TestConditionsAskOnce(t *testing.T) {
	t.Parallel()
	times := 0
	r := counted{request{params: map[string]any{"model": "gpt-4o", "prompt": "hello"}}, &times}
	conditions := strings.Repeat(`{"query":{"params.model":{"$regex":"claude"},"params.prompt":"bye"},"then":"a"},{"query":{"$or":[{"params.model":"o3"},{"params.prompt":"x"},{"params.none":"x"}]},"then":"a"},`, 100)
	cfg := parse(t, branch(`{"mode":"conditional","conditions":[`+strings.TrimSuffix(conditions, ",")+`],"default":"b"}`, two))
	if tried, _, err := (upstreams{}).run(t, routing.NewEngine(newClock(), draws()), cfg, r); err != nil || tried[0] != "@b" {
		t.Errorf("tried %v, err %v", tried, err)
	}
	if times != 3 {
		t.Errorf("asked %d times for three fields", times)
	}
}

func TestConditionsWithoutFacts(t *testing.T) {
	t.Parallel()
	cfg := parse(t, branch(`{"mode":"conditional","conditions":[{"query":{"$or":[{"metadata.x":"1"},{"params.x":1},{"url.pathname":"/"}]},"then":"a"}],"default":"b"}`, two))
	tried, _, err := upstreams{}.run(t, routing.NewEngine(newClock(), draws()), cfg, nil)
	if err != nil || tried[0] != "@b" {
		t.Errorf("tried %v, err %v", tried, err)
	}
}
