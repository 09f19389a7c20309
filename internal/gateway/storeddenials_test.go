package gateway_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"sluice/internal/domain/tenant"
	"sluice/internal/gateway/responsestore"
	"sluice/internal/kernel/fault"
	"sluice/internal/storage/sqlstore/storetest"
	"sluice/internal/test/upstream"
)

const denyForbidden = `"output_guardrails":[{"id":"g1","deny":true,` + shorthandRule + `}]`

// geminiText is the answer of Gemini with a text.
func geminiText(text string) upstream.Response {
	return upstream.JSON(200, []byte(strings.Replace(geminiResponse, `"Hello"`, quoted(text), 1)))
}

// A denied response that the gateway would store cannot be read or continued. A redacted one is stored
// as its caller received it.
func TestDeniedResponse_IsNotStoredByTheGateway(t *testing.T) {
	t.Parallel()
	for _, stream := range []bool{false, true} {
		for _, members := range []string{denyForbidden, `"output_mutators":[{"id":"m1","regexReplace":{"rule":"forbidden","redactText":"***"}}]`} {
			t.Run(fmt.Sprintf("stream %v, %s", stream, members[:10]), func(t *testing.T) {
				t.Parallel()
				rows := storetest.Open(t, storetest.SQLite(t))
				r := keeping(t, rows)
				r.up.Handle(geminiPath, upstream.Always(geminiText("a forbidden text")))
				r.up.Handle(geminiStream, upstream.Always(events(
					`data: {"candidates":[{"content":{"role":"model","parts":[{"text":"a for"}]},"index":0}],"modelVersion":"gemini-2.5-flash"}`+"\n\n",
					`data: {"candidates":[{"content":{"role":"model","parts":[{"text":"bidden text"}]},"finishReason":"STOP","index":0}],"usageMetadata":{"totalTokenCount":6}}`+"\n\n")))
				config := `x-gateway-config: {"provider":"google","api_key":"k","custom_host":"` + r.up.URL() + `",` + members + `}`
				a := r.call("POST", "/v1/responses", strings.Replace(firstOf, "{", fmt.Sprintf(`{"stream":%v,`, stream), 1), config)
				r.written()
				row := r.journal.one(t)
				id := "resp_gw" + strings.ReplaceAll(row.RequestID, "-", "")[:24]
				got := r.call("GET", "/v1/responses/"+id, "")
				if members == denyForbidden {
					if strings.Contains(a.Text, "forbidden") || got.StatusCode != 404 {
						t.Errorf("%d %s; then %d %s", a.StatusCode, a.Text, got.StatusCode, got.Text)
					}
					if a := r.call("POST", "/v1/responses", `{"model":"gemini-2.5-flash","input":"Second","previous_response_id":"`+id+`"}`, config); a.StatusCode != 400 {
						t.Errorf("continued: %d %s", a.StatusCode, a.Text)
					}
					return
				}
				if got.StatusCode != 200 || strings.Contains(got.Text, "forbidden") || !strings.Contains(got.Text, "a *** text") {
					t.Errorf("stored %d %s; the caller got %s", got.StatusCode, got.Text, a.Text)
				}
			})
		}
	}
}

// A denied response that the provider stores is deleted there, and its id is refused, also by another
// node.
func TestDeniedResponse_IsNeitherReadNorContinuedAtItsProvider(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ call, body, members string }{
		"response":             {"POST /v1/responses", `{"model":"gpt-4o-mini","input":"a"}`, ""},
		"stored by the config": {"POST /v1/responses", `{"model":"gpt-4o-mini","input":"a","store":false}`, `,"override_params":{"store":true}`},
		"stream":               {"POST /v1/responses", `{"model":"gpt-4o-mini","input":"a","stream":true}`, ""},
		"background":           {"GET /v1/responses/resp_1", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rows := storetest.Open(t, storetest.SQLite(t))
			r := keeping(t, rows)
			response := fmt.Sprintf(textSurfaces[2].response, "a forbidden text")
			p := &streamingProviders[0]
			r.up.Handle("/v1/responses", upstream.Always(upstream.JSON(200, []byte(response))))
			if name == "stream" {
				r.up.Handle("/v1/responses", upstream.Always(p.eventsFor("/v1/responses", []string{"a for", "bidden text"})))
			}
			r.up.Handle("/v1/responses/resp_1", upstream.Always(upstream.JSON(200, []byte(response))))
			config := r.inline(denyForbidden + c.members)
			method, path, _ := strings.Cut(c.call, " ")
			if a := r.call(method, path, c.body, config); strings.Contains(a.Text, "bidden") {
				t.Errorf("%d %s", a.StatusCode, a.Text)
			}
			r.up.Await(t, "the deletion", func(s []upstream.Seen) bool {
				return slices.ContainsFunc(s, func(s upstream.Seen) bool { return s.Method == "DELETE" && s.Path() == "/v1/responses/resp_1" })
			})
			r.written()
			other := keeping(t, rows)
			for _, node := range []*rig{r, other} {
				before := node.up.Total()
				for _, again := range []struct {
					call, body string
					status     int
				}{
					{"GET /v1/responses/resp_1", "", 404}, {"GET /v1/responses/resp_1/input_items", "", 404}, {"GET /v1/proxy/v2/responses/resp_1", "", 404},
					{"POST /v1/responses", `{"model":"gpt-4o-mini","input":"b","previous_response_id":"resp_1"}`, 400},
					{"POST /v1/proxy/v2/responses", `{"model":"gpt-4o-mini","input":"b","previous_response_id":"resp_1"}`, 400},
				} {
					method, path, _ := strings.Cut(again.call, " ")
					if a := node.call(method, path, again.body, node.inline("")); a.StatusCode != again.status || strings.Contains(a.Text, "forbidden") {
						t.Errorf("%s: %d %s", again.call, a.StatusCode, a.Text)
					}
				}
				if node.up.Total() != before {
					t.Errorf("%d calls reached the provider", node.up.Total()-before)
				}
			}
		})
	}
}

// unavailableRows is a database of responses that cannot be read.
type unavailableRows struct{ responsestore.Database }

func (unavailableRows) FindResponse(context.Context, string, string, time.Time) (input, response []byte, err error) {
	return nil, nil, fault.New(fault.Overloaded, "the database is down")
}

// While the database cannot tell whether a response was denied, calls with output guardrails cannot read or
// continue it. Other calls can.
func TestDeniedResponse_IsNotReadWhileTheDatabaseIsDown(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		defaults []string // of the organisation
		members  string   // of the config
		status   int
	}{
		"default of the organisation":   {[]string{"g1"}, "", 503},
		"guardrail of the config":       {nil, denyForbidden, 503},
		"input guardrail of the config": {nil, `"input_guardrails":[{"id":"g1","deny":true,` + shorthandRule + `}]`, 200},
		"without guardrails":            {nil, "", 200},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := keeping(t, unavailableRows{storetest.Open(t, storetest.SQLite(t))})
			r.dir.scope.SetGuardrails(workspace, &tenant.Organisation{Defaults: tenant.OrgDefaults{OutputGuardrails: c.defaults}})
			response := upstream.Always(upstream.JSON(200, []byte(fmt.Sprintf(textSurfaces[2].response, "fine"))))
			for _, path := range []string{"/v1/responses", "/v1/responses/resp_1", "/v1/v2/responses/resp_1"} {
				r.up.Handle(path, response)
			}
			for _, again := range []struct{ call, body string }{
				{"GET /v1/responses/resp_1", ""}, {"GET /v1/proxy/v2/responses/resp_1", ""},
				{"POST /v1/responses", `{"model":"gpt-4o-mini","input":"b","previous_response_id":"resp_1"}`},
			} {
				method, path, _ := strings.Cut(again.call, " ")
				a := r.call(method, path, again.body, r.inline(c.members))
				if a.StatusCode != c.status || c.status == 503 && !strings.Contains(a.Text, "the database is unavailable") {
					t.Errorf("%s: %d %s", again.call, a.StatusCode, a.Text)
				}
			}
			if n := r.up.Total(); c.status == 503 && n != 0 {
				t.Errorf("%d calls reached the provider", n)
			}
		})
	}
}

// The stream of a stored response is judged, too.
func TestStoredResponse_IsJudgedWhenItIsReadAsStream(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.up.Handle("/v1/responses/resp_1", upstream.Always(streamingProviders[0].eventsFor("/v1/responses", []string{"a for", "bidden text"})))
	a := r.call("GET", "/v1/responses/resp_1?stream=true", "", r.inline(denyForbidden))
	if strings.Contains(a.Text, "bidden") {
		t.Errorf("%d %s", a.StatusCode, a.Text)
	}
}
