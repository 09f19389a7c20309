package main

import (
	"fmt"
	"time"

	"sluice/internal/test/upstream/responder"
	"sluice/test/bench/load"
	"sluice/test/bench/target"
)

// scenario is one kind of load. Its job lacks what depends on the target: address,
// request and, where Each is 0, the length of a round.
type scenario struct {
	name, title string
	answers     target.Answers
	call        call
	job         load.Job
	translated  bool                       // Sluice that translates is compared with Sluice that relays
	gated       bool                       // Sluice with limits, prices and the ledger is compared with Sluice without
	layered     bool                       // Sluice without the request log, and without the gate besides, are worth a row each
	buffered    bool                       // nginx with its default buffering is worth a row
	rounds      int                        // at most; 0: as many as asked for
	asks        func(p *plane, n int) call // the nth call of the administration; nil: a scenario of model traffic
	files       int                        // descriptors that a program needs for each connection; 0: there are enough
}

// sparedFiles are for what a program has open besides connections.
const sparedFiles = 1000

// fit makes the scenario small enough for programs that may open limit files, and
// says so in its title.
func (s *scenario) fit(limit uint64) {
	if s.files == 0 || limit < sparedFiles {
		return
	}
	if maxConns := int(min(limit, maxFiles)-sparedFiles) / s.files; maxConns < s.job.Conns {
		s.job.Conns = maxConns
		s.title += fmt.Sprintf("; only %d, because a program may open no more than %d files here", maxConns, limit)
	}
}

// scenarios are all of them, in the order of the report.
func scenarios() []*scenario {
	stream := func(events int, every time.Duration) target.Answers {
		return target.Answers{Options: responder.Options{Chunks: events, Interval: every}}
	}
	slow := target.Answers{Options: responder.Options{Delay: time.Second}}
	large := target.Answers{Options: responder.Options{ChatBytes: 10 << 10}}
	return append([]*scenario{
		{name: "chat-1k-c16", title: "1 KB chat, 16 connections", call: chat, job: load.Job{Conns: 16, Unmeasured: 50, Body: 1 << 10}},
		{name: "chat-1k-c64", title: "1 KB chat, 64 connections", call: chat, layered: true, job: load.Job{Conns: 64, Unmeasured: 20, Body: 1 << 10}},
		{name: "chat-1k-c256", title: "1 KB chat, 256 connections", call: chat, job: load.Job{Conns: 256, Unmeasured: 5, Body: 1 << 10}},
		{name: "chat-10k-c64", title: "10 KB chat, 64 connections", call: chat, answers: large, job: load.Job{Conns: 64, Unmeasured: 20, Body: 10 << 10}},
		{name: "pass-through-c64", title: "Pass-through of 0.7 KB both ways, 64 connections", call: passThrough, job: load.Job{Conns: 64, Unmeasured: 20, Body: len(searchBody)}},
		{name: "uncounted-c64", title: "Pass-through of a 0.7 KB chat whose answer has no usage: its tokens are counted here, 64 connections", call: uncounted,
			job: load.Job{Conns: 64, Unmeasured: 20, Body: len(chatBody)}},
		{name: "stream-burst-c16", title: "Streams of 100 events in a burst, 16 connections", call: streamed, answers: stream(100, 0), buffered: true, layered: true,
			job: load.Job{Conns: 16, Unmeasured: 5, Events: 100}},
		{name: "stream-10ms-c128", title: "Streams of 100 events 10 ms apart, 128 connections", call: streamed, answers: stream(100, 10*time.Millisecond), layered: true,
			job: load.Job{Conns: 128, Each: 3, Events: 100}},
		{name: "upload-1m-c8", title: "1 MB transcription, 8 connections", call: upload(1 << 20), buffered: true, job: load.Job{Conns: 8, Unmeasured: 5}},
		{name: "upload-25m-c2", title: "25 MB transcription, 2 connections", call: upload(25 << 20), job: load.Job{Conns: 2, Unmeasured: 1}},
		{name: "rate-1000", title: "1,000 requests/s of 1 KB chat", call: chat, job: load.Job{Conns: 64, Unmeasured: 10, Rate: 1000, Body: 1 << 10}},
		{name: "rate-8000", title: "8,000 requests/s of 1 KB chat", call: chat, layered: true, job: load.Job{Conns: 256, Unmeasured: 5, Rate: 8000, Body: 1 << 10}},
		{name: "in-flight-1000", title: "1,000 requests in flight at an upstream that takes a second", call: chat, answers: slow,
			job: load.Job{Conns: 1000, Each: 3, Body: 1 << 10, Ramp: time.Second}, files: 2},
		{name: "open-streams", title: "10,000 open streams, an event per second each", call: streamed, answers: stream(10, time.Second), rounds: 1,
			job: load.Job{Conns: 10000, Each: 1, Events: 10, Ramp: 5 * time.Second}, files: 2},
		{name: "tls-h2-c64", title: "1 KB chat, 64 connections, the upstream over TLS (HTTP/2 where the proxy can)", call: chat, answers: target.Answers{TLS: true},
			job: load.Job{Conns: 64, Unmeasured: 20, Body: 1 << 10}},
		{name: "translate-1k-c16", title: "1 KB conversation with tools, relayed and translated, 16 connections", call: conversation(1<<10, ""), translated: true,
			job: load.Job{Conns: 16, Unmeasured: 50, Body: 1 << 10}},
		{name: "translate-50k-c16", title: "50 KB conversation with tools, relayed and translated, 16 connections", call: conversation(50<<10, ""), translated: true,
			job: load.Job{Conns: 16, Unmeasured: 20, Body: 1 << 10}},
		{name: "translate-stream-c16", title: "Streams of 100 events in a burst, relayed and translated, 16 connections", translated: true, answers: stream(100, 0),
			call: conversation(1<<10, `"stream":true,"stream_options":{"include_usage":true},`), job: load.Job{Conns: 16, Unmeasured: 5, Events: 100}},
		{name: "gate-1k-c16", title: "1 KB chat with limits, prices and the ledger, and without, 16 connections", gated: true,
			call: pricedChat(`"temperature":0.2,"max_tokens":256`), job: load.Job{Conns: 16, Unmeasured: 50, Body: 1 << 10}},
		{name: "gate-stream-c16", title: "Streams of 100 events in a burst with limits, prices and the ledger, and without, 16 connections", gated: true, answers: stream(100, 0),
			call: pricedChat(streamMembers), job: load.Job{Conns: 16, Unmeasured: 5, Events: 100}},
	}, ofPlanes()...)
}
