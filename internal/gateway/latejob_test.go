package gateway_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// A job whose creation is answered after the time allowed is followed as any other: its
// maximum is held until it has ended, also where the answer has a usage of nothing.
func TestJobThatIsCreatedLateIsFollowed(t *testing.T) {
	t.Parallel()
	w := newWorks(t, "openai")
	gate := make(chan struct{})
	open := sync.OnceFunc(func() { close(gate) })
	t.Cleanup(open)
	front := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		if r.Method == "POST" && r.URL.Path == "/v1/batches" {
			_, _ = io.Copy(io.Discard, r.Body)
			<-gate
		}
		w.up.ServeHTTP(out, r)
	}))
	t.Cleanup(front.Close)
	t.Cleanup(open)
	w.rig.dir.accounts["works"].Values["custom_host"] = front.URL + "/v1"
	plan := w.budget(1)
	w.takeBatch()
	w.up.handle("POST /v1/batches", strings.Replace(batchRunning, "{", `{"usage":{"input_tokens":0,"output_tokens":0,"total_tokens":0},`, 1))
	w.upload(t, "batch", twoLines(requestLine), savedWorks)
	if a := w.call("POST", "/v1/batches", createBatch, savedWorks, "x-gateway-request-timeout: 50"); a.StatusCode != 408 {
		t.Fatalf("%d %s", a.StatusCode, a.Text)
	}
	open()
	until(t, "the answer to be read", func() bool { return w.gateway.Abandoned().Responses() == 0 && w.gateway.Open() == 0 })
	jobs := w.store.Jobs()
	if len(jobs) != 1 || w.used(plan) != jobs[0].MaxCostNano || jobs[0].MaxCostNano <= 2*100*300 {
		t.Fatalf("open %+v, used %d; %s", jobs, w.used(plan), w.log.String())
	}
	w.up.handle("GET /v1/batches/batch_a", batchDone)
	w.up.handle("GET /v1/files/file-out/content", twoLines(resultLine))
	w.turn()
	if got := w.used(plan); got != 2*lineCost || w.store.Settled() != 1 {
		t.Errorf("settled %d times, used %d, want %d", w.store.Settled(), got, 2*lineCost)
	}
}
