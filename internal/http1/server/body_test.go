package server_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sluice/internal/http1/server"
	"sluice/internal/kernel/wire"
)

// Whatever the sizes of chunks, packets and reads, the body is what was sent, and the
// next request on the connection is read from its beginning.
func TestBodies(t *testing.T) {
	t.Parallel()
	sizes := make(chan int, 1)
	s := start(t, func(_ context.Context, req *wire.Request, out wire.Responder) error {
		if req.Body == nil {
			return writeResponse(out, []byte("none"))
		}
		var all bytes.Buffer
		_, err := io.CopyBuffer(struct{ io.Writer }{&all}, struct{ io.Reader }{req.Body}, make([]byte, <-sizes))
		return errors.Join(err, writeResponse(out, all.Bytes()))
	})
	c := s.dial(t)
	rapid.Check(t, func(rt *rapid.T) {
		want := bytes.Repeat([]byte("0123456789abcdef"), rapid.SampledFrom([]int{1, 10, 500, 513, 1000, 5000}).Draw(rt, "size"))
		sizes <- rapid.SampledFrom([]int{1, 100, 1023, 1024, 9000, 70000}).Draw(rt, "read")
		request := post("/v1/x", string(want))
		if rapid.Bool().Draw(rt, "chunked") {
			request = "POST /v1/x HTTP/1.1\r\nHost: gw\r\nTransfer-Encoding: chunked\r\n\r\n"
			for rest := want; len(rest) > 0; {
				n := min(rapid.SampledFrom([]int{1, 15, 1000, 9000, 80000}).Draw(rt, "chunk"), len(rest))
				if n == 1 {
					n = min(100, len(rest)) // enough small ones are tried without being slow
				}
				request += fmt.Sprintf("%x\r\n%s\r\n", n, rest[:n])
				rest = rest[n:]
			}
			request += "0\r\n\r\n"
		}
		request += get
		step := rapid.SampledFrom([]int{100, 1000, 8192, 100000}).Draw(rt, "packet")
		go func() {
			for rest := request; rest != ""; {
				n := min(step, len(rest))
				if _, err := io.WriteString(c, rest[:n]); err != nil {
					return
				}
				rest = rest[n:]
			}
		}()
		_ = c.SetDeadline(time.Now().Add(30 * time.Second))
		if got := c.readResponse("POST"); got.text != string(want) {
			rt.Fatalf("%d bytes of %d", len(got.text), len(want))
		}
		if got := c.readResponse("GET"); got.text != "none" {
			rt.Fatalf("then %q", got.text)
		}
	})
}

// A body that nobody took is read when it is small, so that the connection can go on;
// behind a large one it is closed, and the client has its answer before.
func TestUnreadBodies(t *testing.T) {
	t.Parallel()
	s := start(t, func(_ context.Context, _ *wire.Request, out wire.Responder) error {
		return writeResponse(out, []byte("ok"))
	})
	for name, c := range map[string]struct {
		text  string
		close bool
	}{
		"small":            {post("/v1/x", strings.Repeat("a", 100<<10)), false},
		"chunked":          {"POST /v1/x HTTP/1.1\r\nHost: gw\r\nTransfer-Encoding: chunked\r\n\r\n" + strings.Repeat("3e8\r\n"+strings.Repeat("a", 1000)+"\r\n", 100) + "0\r\n\r\n", false},
		"large":            {post("/v1/x", strings.Repeat("a", server.MaxLeftover+10<<10)), true},
		"large in chunks":  {"POST /v1/x HTTP/1.1\r\nHost: gw\r\nTransfer-Encoding: chunked\r\n\r\n" + strings.Repeat("3e8\r\n"+strings.Repeat("a", 1000)+"\r\n", 400) + "0\r\n\r\n", true},
		"malformed chunks": {"POST /v1/x HTTP/1.1\r\nHost: gw\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := s.dial(t)
			go func() { _, _ = io.WriteString(client, c.text+get) }() // the rest of a large one may not be taken
			if got := client.readResponse("POST"); got.text != "ok" || got.err != nil {
				t.Fatalf("%q %v", got.text, got.err)
			}
			if c.close {
				client.closed()
			} else if got := client.readResponse("GET"); got.text != "ok" {
				t.Errorf("then %q", got.text)
			}
		})
	}
}

// A client that sends without an end, although it has its answer, is not read for longer
// than it takes to see that.
func TestEndlessBody(t *testing.T) {
	t.Parallel()
	s := start(t, func(_ context.Context, _ *wire.Request, out wire.Responder) error {
		return writeResponse(out, []byte("no"))
	})
	c := s.dial(t).send("POST /v1/x HTTP/1.1\r\nHost: gw\r\nTransfer-Encoding: chunked\r\n\r\n")
	sent := make(chan int)
	go func() {
		chunk, n := []byte("10000\r\n"+strings.Repeat("a", 64<<10)+"\r\n"), 0
		for {
			k, err := c.Conn.Write(chunk)
			if n += k; err != nil {
				sent <- n
				return
			}
		}
	}()
	if got := c.readResponse("POST"); got.text != "no" {
		t.Errorf("%q", got.text)
	}
	if n := <-sent; n > 32<<20 {
		t.Errorf("%d bytes were taken", n)
	}
}

// A body that ends early or is malformed is an error to the gateway, never an end.
func TestBrokenBodies(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"cut":             strings.TrimSuffix(post("/v1/x", "hello"), "lo"),
		"cut in chunks":   "POST /v1/x HTTP/1.1\r\nHost: gw\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
		"malformed chunk": "POST /v1/x HTTP/1.1\r\nHost: gw\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello!\r\n0\r\n\r\n",
		"size overflow":   "POST /v1/x HTTP/1.1\r\nHost: gw\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff1\r\nhello",
		"bare line feed":  "POST /v1/x HTTP/1.1\r\nHost: gw\r\nTransfer-Encoding: chunked\r\n\r\n5\nhello\r\n0\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ended := make(chan error, 1)
			s := start(t, func(_ context.Context, req *wire.Request, _ wire.Responder) error {
				_, err := io.ReadAll(req.Body)
				ended <- err
				return err
			})
			c := s.dial(t).send(text)
			_ = c.Conn.(interface{ CloseWrite() error }).CloseWrite()
			if err := <-ended; err == nil {
				t.Error("it was taken for whole")
			}
			c.closed()
		})
	}
}

// A client that waits to be asked for its body is asked when the gateway wants it, and
// only then.
func TestExpect(t *testing.T) {
	t.Parallel()
	s := start(t, func(ctx context.Context, req *wire.Request, out wire.Responder) error {
		if req.Path == "/v1/refused" {
			return writeResponse(out, []byte("no"))
		}
		return echo(ctx, req, out)
	})
	head := "HTTP/1.1\r\nHost: gw\r\nContent-Length: 5\r\nExpect: 100-Continue\r\n\r\n"
	c := s.dial(t).send("POST /v1/x " + head)
	line, err := c.r.ReadString('\n')
	if rest, err2 := c.r.ReadString('\n'); err != nil || err2 != nil || line+rest != "HTTP/1.1 100 Continue\r\n\r\n" {
		t.Fatalf("%q %v", line, err)
	}
	if got := c.send("hello" + get).readResponse("POST"); got.text != "POST /v1/x? gw\nhello" || got.Close {
		t.Errorf("%q", got.text)
	}
	if got := c.readResponse("GET"); got.StatusCode != 200 {
		t.Errorf("then %d", got.StatusCode)
	}
	c = s.dial(t).send("POST /v1/refused " + head)
	if got := c.readResponse("POST"); got.text != "no" || !got.Close {
		t.Errorf("refused: %q, close %v", got.text, got.Close)
	}
	c.closed()
	c = s.dial(t).send("POST /v1/x " + head + "hello")
	if got := c.readResponse("POST"); got.text != "POST /v1/x? gw\nhello" {
		t.Errorf("not waited: %d %q", got.StatusCode, got.text)
	}
}

// A client is asked for its body also when the limit of an answer before has passed.
func TestExpectBehindALargeAnswer(t *testing.T) {
	t.Parallel()
	s := start(t, func(ctx context.Context, req *wire.Request, out wire.Responder) error {
		if req.Body == nil {
			return writeResponse(out, bytes.Repeat([]byte("large"), 40<<10))
		}
		return echo(ctx, req, out)
	}, func(s *server.Server) { s.Patience.WriteStall = time.Second })
	c := s.dial(t).send(get)
	if got := c.readResponse("GET"); got.err != nil {
		t.Fatal(got.err)
	}
	time.Sleep(1200 * time.Millisecond) // it is the time itself that is tried
	c.send("POST /v1/x HTTP/1.1\r\nHost: gw\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n")
	line, err := c.r.ReadString('\n')
	if rest, err2 := c.r.ReadString('\n'); err != nil || err2 != nil || line+rest != "HTTP/1.1 100 Continue\r\n\r\n" {
		t.Fatalf("%q %v", line, err)
	}
	if got := c.send("hello").readResponse("POST"); got.text != "POST /v1/x? gw\nhello" {
		t.Errorf("%q", got.text)
	}
}

// A body that stops, or comes in drops, ends the request; one that keeps coming, and
// one that the gateway itself takes its time for, does not.
func TestSlowBodies(t *testing.T) {
	t.Parallel()
	impatient := func(s *server.Server) {
		s.Patience = server.ClientTimeouts{Idle: 100 * time.Millisecond, Grace: 400 * time.Millisecond, Rate: 1 << 20, WriteStall: time.Second}
	}
	for name, c := range map[string]struct {
		send  func(io.Writer)
		ready int           // bytes that come before each read of the gateway
		pause time.Duration // of the gateway between two reads
		slow  bool
	}{
		"whole":   {ready: 64},
		"stopped": {slow: true, send: func(w io.Writer) { _, _ = io.WriteString(w, "a") }},
		"nothing": {slow: true, send: func(io.Writer) {}},
		"drops": {slow: true, send: func(w io.Writer) {
			for range 63 {
				if _, err := io.WriteString(w, "a"); err != nil {
					return
				}
				time.Sleep(30 * time.Millisecond)
			}
		}},
		"slow gateway": {ready: 16, pause: 150 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ended := make(chan error, 1)
			var to *client
			dialled := make(chan struct{})
			s := start(t, func(_ context.Context, req *wire.Request, out wire.Responder) error {
				var err error
				<-dialled
				for buf, left := make([]byte, 16), 64; err == nil; time.Sleep(c.pause) {
					n := min(c.ready, left) // from here, so that no read waits for a slow machine
					left -= n
					_, _ = io.WriteString(to, strings.Repeat("a", n))
					_, err = req.Body.Read(buf)
				}
				ended <- err
				return writeResponse(out, nil)
			}, impatient)
			to = s.dial(t).send("POST /v1/x HTTP/1.1\r\nHost: gw\r\nContent-Length: 64\r\n\r\n")
			close(dialled)
			if c.send != nil {
				go c.send(to)
			}
			if err := <-ended; errors.Is(err, os.ErrDeadlineExceeded) != c.slow || !c.slow && err != io.EOF {
				t.Errorf("%v", err)
			}
		})
	}
}

// The answer may begin while the body still comes.
func TestFullDuplex(t *testing.T) {
	t.Parallel()
	s := start(t, func(_ context.Context, req *wire.Request, out wire.Responder) error {
		if err := out.Head(200, nil, -1); err != nil {
			return err
		}
		buf := make([]byte, 2000)
		for {
			n, err := req.Body.Read(buf)
			if n > 0 {
				if _, err := out.Write(buf[:n]); err != nil {
					return err
				}
				if err := out.Flush(); err != nil {
					return err
				}
			}
			if err == io.EOF {
				return nil
			}
			if err != nil {
				return err
			}
		}
	})
	c := s.dial(t).send("POST /v1/x HTTP/1.1\r\nHost: gw\r\nTransfer-Encoding: chunked\r\n\r\n")
	for range 3 {
		c.send("5\r\nhello\r\n")
		for got := ""; !strings.HasSuffix(got, "hello\r\n"); {
			line, err := c.r.ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			got += line
		}
	}
	c.send("0\r\n\r\n" + post("/v1/x", "x"))
	if rest, err := c.r.ReadString('T'); err != nil || rest != "0\r\n\r\nHT" {
		t.Errorf("the end: %q %v", rest, err)
	}
}

// A read of the body that a call left behind ends with the answer and takes nothing of
// the next request.
func TestReadLeftBehind(t *testing.T) {
	t.Parallel()
	ended := make(chan error, 2)
	s := start(t, func(_ context.Context, req *wire.Request, out wire.Responder) error {
		reading := make(chan struct{})
		go func() {
			close(reading)
			_, err := req.Body.Read(make([]byte, 4096))
			ended <- err
			_, err = req.Body.Read(make([]byte, 4096))
			ended <- err
		}()
		<-reading
		return writeResponse(out, []byte("early"))
	})
	c := s.dial(t).send("POST /v1/x HTTP/1.1\r\nHost: gw\r\nContent-Length: 5\r\n\r\n")
	if got := c.readResponse("POST"); got.text != "early" {
		t.Errorf("%q", got.text)
	}
	c.send("hello")
	for range 2 {
		if err := <-ended; err == nil {
			t.Error("it read on")
		}
	}
	_ = c.Close()
}
