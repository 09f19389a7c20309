package upstream

import (
	"sync"
)

// Script decides the answer to a request; nil leaves it to the next in order.
type Script func(Seen) *Response

// scripts is what the test wants answered.
type scripts struct {
	mu    sync.Mutex
	head  Script
	all   Script
	paths map[string]Script
	tries map[string]int // how often each limited fault was asked for
}

// ScriptHead sets the script that is asked before the body is read; replies of it
// count when they have Early or ReadPause. Nil removes it.
func (s *Server) ScriptHead(f Script) {
	s.script.mu.Lock()
	defer s.script.mu.Unlock()
	s.script.head = f
}

// Script sets the script for all paths that have none of their own. Nil removes it.
func (s *Server) Script(f Script) {
	s.script.mu.Lock()
	defer s.script.mu.Unlock()
	s.script.all = f
}

// Handle sets the script of one path, for example "/v1/embeddings", compared with the
// raw target without its query. Nil removes it.
func (s *Server) Handle(path string, f Script) {
	s.script.mu.Lock()
	defer s.script.mu.Unlock()
	if s.script.paths == nil {
		s.script.paths = map[string]Script{}
	}
	s.script.paths[path] = f
}

// Always is a script of one reply.
func Always(r Response) Script { return func(Seen) *Response { return &r } }

// InTurn is a script that gives each reply once; afterwards it has no opinion.
func InTurn(replies ...Response) Script {
	var mu sync.Mutex
	return func(Seen) *Response {
		mu.Lock()
		defer mu.Unlock()
		if len(replies) == 0 {
			return nil
		}
		r := replies[0]
		replies = replies[1:]
		return &r
	}
}

// scripted asks the scripts for a request whose body is in.
func (s *Server) scripted(seen Seen) *Response {
	s.script.mu.Lock()
	path, all := s.script.paths[seen.Path()], s.script.all
	s.script.mu.Unlock()
	for _, f := range []Script{path, all} {
		if f == nil {
			continue
		}
		if r := f(seen); r != nil {
			return r
		}
	}
	return nil
}

// early is the reply, if any, that is decided by the head alone.
func (s *Server) early(seen Seen) *Response {
	s.script.mu.Lock()
	f := s.script.head
	s.script.mu.Unlock()
	if f != nil {
		if r := f(seen); r != nil {
			return r
		}
	}
	spec := namedInHead(&seen)
	if f, ok := faults[spec.name]; ok && f.head != nil && s.due(spec) {
		r := f.head(spec.arg)
		return &r
	}
	return nil
}

// respond is the reply to a request whose body is in; nil means that the demo
// takes over the connection (a WebSocket).
func (s *Server) respond(seen Seen) *Response {
	if r := s.scripted(seen); r != nil {
		return r
	}
	spec := namedIn(&seen)
	if spec.name != "" && s.due(spec) {
		r := s.Fault(spec.text, seen)
		return &r
	}
	if seen.wantsWebSocket() {
		return nil
	}
	r := s.OK(seen)
	return &r
}

// due counts the askings of a fault that is limited to a number of times.
func (s *Server) due(spec faultSpec) bool {
	if spec.times == 0 {
		return true
	}
	s.script.mu.Lock()
	defer s.script.mu.Unlock()
	if s.script.tries == nil {
		s.script.tries = map[string]int{}
	}
	s.script.tries[spec.text]++
	return s.script.tries[spec.text] <= spec.times
}
