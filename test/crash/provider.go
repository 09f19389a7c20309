package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// Each call asks for an answer of a length of its own. So the bound of what a call may
// cost tells it from all others of its key, also where a crash left nothing else of it.
const lengthStep = 100

// maxRequestBytes bounds the body of a request.
const maxRequestBytes = 64 << 10

// callID names a call of a campaign.
type callID struct{ epoch, number int }

// work is what the upstream did for a call.
type work struct {
	input, out int64 // tokens, as it says in its answer
	times      int   // how often it was asked
	complete   bool  // it could write all of the answer
}

// provider is an upstream that remembers what it did for whom, and tells when a call has
// come to a stage. It answers chats of OpenAI's shape, whole and as streams, with pauses.
type provider struct {
	seed   uint64
	ln     net.Listener
	server *http.Server
	ended  chan error

	mu    sync.Mutex // guards what follows
	done  map[callID]*work
	armed *trigger
}

// trigger kills at the n-th call that comes to a stage.
type trigger struct {
	stage stage
	left  int
	kill  func()
}

func openProvider(ctx context.Context, seed uint64) (_ *provider, err error) {
	p := &provider{seed: seed, done: map[callID]*work{}, ended: make(chan error, 1)}
	if p.ln, err = (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0"); err != nil {
		return nil, err
	}
	p.server = &http.Server{Handler: http.HandlerFunc(p.serve), ReadHeaderTimeout: time.Minute, ConnState: func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			p.reached(dialled)
		}
	}}
	go func() { p.ended <- p.server.Serve(p.ln) }()
	return p, nil
}

func (p *provider) url() string { return "http://" + p.ln.Addr().String() + "/v1" }

func (p *provider) close() error {
	err := p.server.Close()
	if end := <-p.ended; !errors.Is(end, http.ErrServerClosed) {
		err = errors.Join(err, end)
	}
	return err
}

// arm sets when kill is called, and returns a kill for all other reasons: it is called
// once, whoever comes first.
func (p *provider) arm(m moment, kill func()) (once func()) {
	once = sync.OnceFunc(kill)
	p.server.SetKeepAlivesEnabled(m.stage != dialled) // else there are few connections
	p.mu.Lock()
	defer p.mu.Unlock()
	if m.nth > 0 {
		p.armed = &trigger{m.stage, m.nth, once}
	}
	return once
}

func (p *provider) disarm() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.armed = nil
}

// reached says that a call came to a stage, and kills if it is the one.
func (p *provider) reached(s stage) {
	p.mu.Lock()
	t := p.armed
	due := t != nil && t.stage == s
	if due {
		t.left--
		due = t.left == 0
	}
	p.mu.Unlock()
	if due {
		t.kill()
	}
}

// served returns what was done for the calls of an epoch, by their numbers.
func (p *provider) served(epoch int) map[int]work {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := map[int]work{}
	for id, w := range p.done {
		if id.epoch == epoch {
			out[id.number] = *w
		}
	}
	return out
}

// begin notes that a call came in, and decides what its answer is.
func (p *provider) begin(id callID) *work {
	p.mu.Lock()
	defer p.mu.Unlock()
	w := p.done[id]
	if w == nil {
		r := rand.New(rand.NewPCG(p.seed, uint64(id.epoch)<<32|uint64(id.number)))
		w = &work{input: 10 + r.Int64N(40), out: 1 + r.Int64N(int64(id.number)*lengthStep)}
		p.done[id] = w
	}
	w.times++
	return w
}

// question is what the upstream reads of a request.
type question struct {
	MaxTokens int    `json:"max_tokens"`
	Stream    bool   `json:"stream"`
	User      string `json:"user"` // the number of the epoch
}

func (p *provider) serve(w http.ResponseWriter, r *http.Request) {
	var q question
	body, err := io.ReadAll(io.LimitReader(r.Body, maxRequestBytes))
	if err == nil {
		err = json.Unmarshal(body, &q)
	}
	epoch, err2 := strconv.Atoi(q.User)
	if err := errors.Join(err, err2); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	id := callID{epoch, q.MaxTokens / lengthStep}
	done := p.begin(id)
	p.reached(requested)
	first, last := q.parts(done)
	if q.Stream {
		w.Header().Set("Content-Type", "text/event-stream")
	} else {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(len(first)+len(last)))
	}
	pause(r.Context(), 30*time.Millisecond)
	if err := put(w, first); err != nil {
		return // the gateway is dead
	}
	p.reached(streaming)
	pause(r.Context(), 20*time.Millisecond)
	if err := put(w, last); err != nil {
		return
	}
	p.mu.Lock()
	done.complete = true
	p.mu.Unlock()
	p.reached(served)
}

// pause takes up to the given time; ctx ends it.
func pause(ctx context.Context, maxPause time.Duration) {
	t := time.NewTimer(rand.N(maxPause))
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}

func put(w http.ResponseWriter, text string) error {
	if _, err := io.WriteString(w, text); err != nil {
		return err
	}
	return http.NewResponseController(w).Flush()
}

// parts are the two writes of an answer.
func (q *question) parts(w *work) (first, last string) {
	usage := fmt.Sprintf(`"usage":{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d}`, w.input, w.out, w.input+w.out)
	if !q.Stream {
		return `{"id":"chatcmpl-crash","object":"chat.completion","created":1,"model":"gpt-4o","choices":[{"index":0,"message":{"role":"assistant","content":"half`,
			` and whole"},"finish_reason":"stop"}],` + usage + `}`
	}
	const chunk = `data: {"id":"chatcmpl-crash","object":"chat.completion.chunk","created":1,"model":"gpt-4o",`
	return chunk + `"choices":[{"index":0,"delta":{"role":"assistant","content":"half"},"finish_reason":null}]}` + "\n\n",
		chunk + `"choices":[{"index":0,"delta":{"content":" and whole"},"finish_reason":"stop"}]}` + "\n\n" +
			chunk + `"choices":[],` + usage + "}\n\ndata: [DONE]\n\n"
}
