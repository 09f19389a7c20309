package demo

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"time"
)

// Server serves a scripted provider on a free port of the loopback interface.
type Server struct {
	listener net.Listener
	http     *http.Server
}

// Listen opens the port. The caller must call Run, which closes it.
func Listen(ctx context.Context, o Options) (*Server, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for the scripted provider: %w", err)
	}
	return &Server{l, &http.Server{Handler: New(o), ReadHeaderTimeout: 10 * time.Second}}, nil
}

// URL returns the base URL of the provider: "http://127.0.0.1:40123/v1".
func (s *Server) URL() string { return "http://" + s.listener.Addr().String() + "/v1" }

// Run serves until ctx ends.
func (s *Server) Run(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() { _ = s.http.Close() })
	defer stop()
	if err := s.http.Serve(s.listener); ctx.Err() == nil {
		return err
	}
	return nil
}
