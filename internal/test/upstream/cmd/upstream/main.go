// Command upstream runs the benchmark's upstream on its own: see package
// responder for what it answers. GET /__stats tells what went through, as JSON.
//
//	upstream --listen 127.0.0.1:9001 --chunks 100 --chunk-interval 10ms
//
// With --tls it speaks TLS with HTTP/2 and HTTP/1.1 through net/http, under a
// certificate made at the start whose authority is written to --ca-out.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"golang.org/x/sync/errgroup"

	"sluice/internal/test/upstream/responder"
	"sluice/internal/test/upstream/testcert"
)

type flags struct {
	listen string
	tls    bool
	caOut  string
	opts   responder.Options
}

func main() {
	var f flags
	flag.StringVar(&f.listen, "listen", "127.0.0.1:0", "address to listen on; port 0 takes a free one. Without TLS further hosts may follow behind commas, which get the same port")
	flag.DurationVar(&f.opts.Delay, "delay", 0, "pause before each answer")
	flag.IntVar(&f.opts.Chunks, "chunks", 100, "events with text in a stream")
	flag.DurationVar(&f.opts.Interval, "chunk-interval", 0, "time between the events of a stream; 0 sends them in a burst")
	flag.IntVar(&f.opts.ChatBytes, "chat-bytes", 1024, "size of a whole chat answer's body")
	flag.BoolVar(&f.tls, "tls", false, "speak TLS with HTTP/2")
	flag.StringVar(&f.caOut, "ca-out", "", "file to write the authority's certificate to, PEM")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, f, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "upstream:", err)
		stop()
		os.Exit(1)
	}
}

// run serves until ctx ends. The first line it prints is the URL.
func run(ctx context.Context, f flags, out io.Writer) error {
	first, hosts, _ := strings.Cut(f.listen, ",")
	ln, err := new(net.ListenConfig).Listen(ctx, "tcp", first)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	r := responder.New(f.opts)
	if !f.tls {
		return plain(ctx, r, ln, hosts, out)
	}
	auth, err := testcert.New(testcert.Options{})
	if err != nil {
		return fmt.Errorf("make certificates: %w", err)
	}
	if f.caOut != "" {
		if err := os.WriteFile(f.caOut, auth.PEM(), 0o644); err != nil {
			return fmt.Errorf("write the authority: %w", err)
		}
	}
	fmt.Fprintf(out, "https://%s\n", ln.Addr())
	return r.ServeTLS(ctx, ln, auth.Config("h2", "http/1.1"))
}

// plain serves at ln, and at its port of each of the hosts, which may be none.
func plain(ctx context.Context, r *responder.Responder, ln net.Listener, hosts string, out io.Writer) error {
	_, port, err := net.SplitHostPort(ln.Addr().String())
	if err != nil {
		return err
	}
	var all errgroup.Group
	for host := range strings.SplitSeq(hosts, ",") {
		if host == "" {
			continue
		}
		more, err := new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort(host, port))
		if err != nil {
			return fmt.Errorf("listen: %w", err)
		}
		all.Go(func() error { return r.Serve(ctx, more) })
	}
	fmt.Fprintf(out, "http://%s\n", ln.Addr())
	all.Go(func() error { return r.Serve(ctx, ln) })
	return all.Wait()
}
