// Package responder is the upstream of the benchmarks: it answers from bytes made
// beforehand, on the bare connection, so that what is measured is the gateway.
//
// It knows /chat/completions and Anthropic's /messages (whole, or as a stream when
// the body has "stream":true), Bedrock's /converse and /converse-stream, /embeddings,
// /audio/transcriptions (a body of any size is swallowed) and GET /__stats, by the
// end of the path; everything else gets its own body back. Each event of a stream is
// one chunk and one write, and carries the time of that write, so that a client can
// tell the delay on the way.
package responder

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// Options of a Responder. The zero value of a field stands for its default.
type Options struct {
	Delay     time.Duration // before each answer; default none
	Chunks    int           // events with text in a stream; default 100
	Interval  time.Duration // between the events of a stream; default none: a burst
	ChatBytes int           // size of the body of a whole answer to a conversation; default 1024
}

// Stats is what went through so far.
type Stats struct {
	Requests       int64 `json:"requests"` // answered, without those to /__stats
	Chats          int64 `json:"chats"`    // whole answers to conversations, in any provider's words
	Streams        int64 `json:"streams"`  // streamed ones
	Embeddings     int64 `json:"embeddings"`
	Transcriptions int64 `json:"transcriptions"`
	Echoes         int64 `json:"echoes"`
	Broken         int64 `json:"broken"`      // requests that were malformed or not whole, answers that could not be written
	Connections    int64 `json:"connections"` // ever accepted
	BytesIn        int64 `json:"bytes_in"`    // of request bodies
	BytesOut       int64 `json:"bytes_out"`   // of response bodies
}

// Responder answers. It is safe for concurrent use.
type Responder struct {
	opts  Options
	made  answers
	count struct {
		kinds                                  [kinds]atomic.Int64
		broken, connections, bytesIn, bytesOut atomic.Int64
	}
}

// kind is what is asked for.
type kind int

const (
	chat     kind = iota
	message       // Anthropic's
	converse      // Bedrock's
	stream
	messageStream
	converseStream
	embeddings
	transcription
	echo
	stats // not counted
	kinds
)

// New makes the answers; it does no I/O.
func New(o Options) *Responder {
	if o.Chunks == 0 {
		o.Chunks = 100
	}
	if o.ChatBytes == 0 {
		o.ChatBytes = 1024
	}
	return &Responder{opts: o, made: makeAnswers(o)}
}

// Stats counts up to now.
func (r *Responder) Stats() Stats {
	n := func(k kind) int64 { return r.count.kinds[k].Load() }
	s := Stats{
		Chats: n(chat) + n(message) + n(converse), Streams: n(stream) + n(messageStream) + n(converseStream),
		Embeddings: n(embeddings), Transcriptions: n(transcription), Echoes: n(echo),
		Broken: r.count.broken.Load(), Connections: r.count.connections.Load(),
		BytesIn: r.count.bytesIn.Load(), BytesOut: r.count.bytesOut.Load(),
	}
	s.Requests = s.Chats + s.Streams + s.Embeddings + s.Transcriptions + s.Echoes
	return s
}

// counted is what an answer adds to the counts.
type counted struct {
	kind          kind
	received, out int64 // bytes of bodies
}

// finish sends the end of an answer. The answer is counted before, so that who has it
// finds it counted, and no more when its end cannot be written.
func (r *Responder) finish(w io.Writer, last []byte, c counted) error {
	r.add(1, c)
	_, err := w.Write(last)
	if err != nil {
		r.add(-1, c)
	}
	return err
}

func (r *Responder) add(n int64, c counted) {
	r.count.kinds[c.kind].Add(n)
	r.count.bytesIn.Add(n * c.received)
	r.count.bytesOut.Add(n * c.out)
}

// Serve accepts HTTP/1.1 connections until ctx ends, then breaks those that are
// open and waits for them. It closes ln, and returns nil after ctx ended.
func (r *Responder) Serve(ctx context.Context, ln net.Listener) error {
	var open openConns
	end := func() {
		_ = ln.Close()
		open.breakAll()
	}
	defer context.AfterFunc(ctx, end)()
	defer open.work.Wait()
	for {
		c, err := ln.Accept()
		if ctx.Err() != nil || errors.Is(err, net.ErrClosed) {
			return nil
		}
		if err != nil {
			end()
			return err
		}
		r.count.connections.Add(1)
		open.serve(c, func() { r.newLink(c).run() })
	}
}

// openConns is the connections of one Serve.
type openConns struct {
	work sync.WaitGroup

	mu     sync.Mutex // guards what follows
	broken bool
	set    map[net.Conn]struct{}
}

// serve runs in a goroutine of its own and closes c afterwards.
func (o *openConns) serve(c net.Conn, run func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.broken {
		_ = c.Close()
		return
	}
	if o.set == nil {
		o.set = map[net.Conn]struct{}{}
	}
	o.set[c] = struct{}{}
	o.work.Add(1)
	go func() {
		defer o.work.Done()
		run()
		_ = c.Close()
		o.mu.Lock()
		delete(o.set, c)
		o.mu.Unlock()
	}()
}

// breakAll closes the connections, and those that come later.
func (o *openConns) breakAll() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.broken = true
	for c := range o.set {
		_ = c.Close()
	}
}
