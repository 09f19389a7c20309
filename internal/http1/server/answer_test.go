package server_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sluice/internal/http1/server"
	"sluice/internal/kernel/wire"
)

var (
	errTest = errors.New("the gateway had to cut the answer")
	dates   = regexp.MustCompile(`date: \w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT\r\n`)
)

// What goes over the wire for each way to answer. The date is left out.
func TestAnswers(t *testing.T) {
	t.Parallel()
	write := func(out wire.Responder, texts ...string) error {
		for _, text := range texts {
			if text == "" {
				if err := out.Flush(); err != nil {
					return err
				}
			} else if _, err := out.Write([]byte(text)); err != nil {
				return err
			}
		}
		return nil
	}
	large := strings.Repeat("x", 100<<10)
	for name, c := range map[string]struct {
		method string
		do     func(out wire.Responder) error
		want   string
	}{
		"announced": {"GET", func(out wire.Responder) error {
			return errors.Join(out.Head(200, wire.Header{{Name: "a", Value: "b"}}, 5), write(out, "he", "llo"))
		}, "HTTP/1.1 200 OK\r\na: b\r\ncontent-length: 5\r\n\r\nhello"},
		"announced and flushed": {"GET", func(out wire.Responder) error {
			return errors.Join(out.Head(201, nil, 5), write(out, "", "he", "", "llo", ""))
		}, "HTTP/1.1 201 Created\r\ncontent-length: 5\r\n\r\nhello"},
		"large": {"GET", func(out wire.Responder) error {
			return errors.Join(out.Head(200, nil, int64(len(large))+4), write(out, "ab", large, "cd"))
		}, "HTTP/1.1 200 OK\r\ncontent-length: 102404\r\n\r\nab" + large + "cd"},
		"counted": {"GET", func(out wire.Responder) error {
			return errors.Join(out.Head(200, nil, -1), write(out, "he", "llo"))
		}, "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello"},
		"marked by guardrails": {"GET", func(out wire.Responder) error { return out.Head(246, nil, -1) },
			"HTTP/1.1 246 Hooks failed\r\ncontent-length: 0\r\n\r\n"},
		"denied by guardrails": {"GET", func(out wire.Responder) error { return out.Head(446, nil, -1) },
			"HTTP/1.1 446 Hooks failed\r\ncontent-length: 0\r\n\r\n"},
		"counted and empty": {"GET", func(out wire.Responder) error { return out.Head(404, nil, -1) },
			"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n"},
		"chunks": {"GET", func(out wire.Responder) error {
			return errors.Join(out.Head(200, nil, -1), write(out, "he", "llo", "", "world", "", "!"))
		}, "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n5\r\nworld\r\n1\r\n!\r\n0\r\n\r\n"},
		"chunks behind a head": {"GET", func(out wire.Responder) error {
			return errors.Join(out.Head(200, nil, -1), write(out, "", "hello", "", ""))
		}, "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"},
		"large chunks": {"GET", func(out wire.Responder) error {
			return errors.Join(out.Head(200, nil, -1), write(out, "ab", large, large, "cd"))
		}, "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n19002\r\nab" + large + "\r\n19000\r\n" + large + "\r\n2\r\ncd\r\n0\r\n\r\n"},
		"no head":        {"GET", func(out wire.Responder) error { return write(out, "hi") }, "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi"},
		"nothing":        {"GET", func(wire.Responder) error { return nil }, "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"},
		"no content":     {"GET", func(out wire.Responder) error { return errors.Join(out.Head(204, nil, 0), write(out, "x")) }, "HTTP/1.1 204 No Content\r\n\r\n"},
		"not modified":   {"GET", func(out wire.Responder) error { return out.Head(304, nil, -1) }, "HTTP/1.1 304 Not Modified\r\n\r\n"},
		"unknown status": {"GET", func(out wire.Responder) error { return out.Head(599, nil, 0) }, "HTTP/1.1 599 \r\ncontent-length: 0\r\n\r\n"},
		"head of known length": {"HEAD", func(out wire.Responder) error { return errors.Join(out.Head(200, nil, 5), write(out, "hello")) },
			"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n"},
		"head without body": {"HEAD", func(out wire.Responder) error { return out.Head(200, nil, 5) }, "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n"},
		"head of unknown length": {"HEAD", func(out wire.Responder) error { return errors.Join(out.Head(200, nil, -1), write(out, "hello", "")) },
			"HTTP/1.1 200 OK\r\n\r\n"},
		"lines that may not be sent": {"GET", func(out wire.Responder) error {
			return out.Head(200, wire.Header{
				{Name: "connection", Value: "upgrade"}, {Name: "transfer-encoding", Value: "gzip"}, {Name: "content-length", Value: "7"}, {Name: "upgrade", Value: "h2c"},
				{Name: "keep-alive", Value: "x"}, {Name: "x-a", Value: "b\r\nset-cookie: c"}, {Name: "x b", Value: "c"}, {Name: "", Value: "c"}, {Name: "x-c", Value: "\x00"}, {Name: "x-d", Value: "\t ä"},
			}, 0)
		}, "HTTP/1.1 200 OK\r\nx-d: \t ä\r\ncontent-length: 0\r\n\r\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, func(_ context.Context, _ *wire.Request, out wire.Responder) error { return c.do(out) })
			request := c.method + " /v1/x HTTP/1.1\r\nHost: gw\r\n"
			got := s.sendRaw(t, request+"\r\n"+request+"Connection: close\r\n\r\n")
			if len(dates.FindAllString(got, -1)) != 2 {
				t.Fatalf("not two dates: %.300q", got)
			}
			last := strings.Replace(c.want, "content-length", "connection: close\r\ncontent-length", 1)
			if strings.Contains(c.want, "chunked") {
				last = strings.Replace(c.want, "transfer-encoding", "connection: close\r\ntransfer-encoding", 1)
			} else if last == c.want {
				last = strings.Replace(c.want, "\r\n\r\n", "\r\nconnection: close\r\n\r\n", 1)
			}
			if got = dates.ReplaceAllString(got, ""); got != c.want+last {
				t.Errorf("got  %.600q\nwant %.600q", got, c.want+last)
			}
		})
	}
}

// Of the upstream's date there is only one.
func TestDateOfTheUpstream(t *testing.T) {
	t.Parallel()
	const then = "Thu, 05 Nov 2026 10:00:00 GMT"
	s := start(t, func(_ context.Context, _ *wire.Request, out wire.Responder) error {
		return out.Head(200, wire.Header{{Name: "date", Value: then}}, 0)
	})
	if got := s.dial(t).send(get).readResponse("GET").Header.Values("Date"); len(got) != 1 || got[0] != then {
		t.Errorf("dates %q", got)
	}
}

// A client never takes a part for the whole: an answer that was cut, or has another
// length than announced, ends with the connection.
func TestCutAnswers(t *testing.T) {
	t.Parallel()
	for name, do := range map[string]func(out wire.Responder) error{
		"cut chunks": func(out wire.Responder) error {
			_ = out.Head(200, nil, -1)
			_, _ = out.Write([]byte("hello"))
			return errors.Join(out.Flush(), errTest)
		},
		"cut length": func(out wire.Responder) error {
			_ = out.Head(200, nil, 10)
			_, _ = out.Write([]byte("hello"))
			return errors.Join(out.Flush(), errTest)
		},
		"too short": func(out wire.Responder) error {
			_ = out.Head(200, nil, 10)
			_, _ = out.Write([]byte("hello"))
			return out.Flush()
		},
		"too long": func(out wire.Responder) error {
			_ = out.Head(200, nil, 5)
			_, _ = out.Write([]byte("hel"))
			_ = out.Flush()
			if _, err := out.Write([]byte("lo!")); err == nil {
				return errors.New("it was taken")
			}
			return nil
		},
		"panic": func(out wire.Responder) error {
			_ = out.Head(200, nil, -1)
			_, _ = out.Write([]byte("hello"))
			_ = out.Flush()
			panic("oh")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, func(_ context.Context, _ *wire.Request, out wire.Responder) error { return do(out) })
			c := s.dial(t).send(get + get)
			if got := c.readResponse("GET"); got.err == nil {
				t.Errorf("taken for whole: %q", got.text)
			}
			c.closed()
			if logged := s.log.String(); strings.Contains(logged, "panic in connection handler") != (name == "panic") {
				t.Errorf("it said %q", logged)
			}
		})
	}
	t.Run("before the head", func(t *testing.T) {
		t.Parallel()
		s := start(t, func(context.Context, *wire.Request, wire.Responder) error { return errTest })
		s.dial(t).send(get + get).closed()
	})
}

// Whatever the pieces in which an answer is written and flushed, the client gets it, in
// the clear and under TLS.
func TestAnswersComeTogether(t *testing.T) {
	t.Parallel()
	type chunk struct {
		text  []byte
		flush bool
	}
	answers := make(chan []chunk, 1)
	g := func(_ context.Context, req *wire.Request, out wire.Responder) error {
		length, chunks := int64(-1), <-answers
		if req.Path == "/v1/announced" {
			length = 0
			for _, p := range chunks {
				length += int64(len(p.text))
			}
		}
		if err := out.Head(200, nil, length); err != nil {
			return err
		}
		for _, p := range chunks {
			if _, err := out.Write(p.text); err != nil {
				return err
			}
			if p.flush {
				if err := out.Flush(); err != nil {
					return err
				}
			}
		}
		return nil
	}
	plain, secure := start(t, g), start(t, g, withTLS)
	clients := map[string]*http.Client{"http://" + plain.addr: {Transport: &http.Transport{}}, "https://" + secure.addr: secureClient(t, false)}
	for base, c := range clients {
		t.Cleanup(c.CloseIdleConnections)
		rapid.Check(t, func(t *rapid.T) {
			var want []byte
			var chunks []chunk
			for range rapid.IntRange(0, 5).Draw(t, "pieces") {
				size := rapid.SampledFrom([]int{0, 1, 100, 7000, 8100, 8192, 8193, 9000, 40000}).Draw(t, "size")
				p := chunk{bytes.Repeat([]byte{byte('a' + len(chunks))}, size), rapid.Bool().Draw(t, "flush")}
				want, chunks = append(want, p.text...), append(chunks, p)
			}
			answers <- chunks
			resp, err := c.Get(base + rapid.SampledFrom([]string{"/v1/announced", "/v1/unknown"}).Draw(t, "path"))
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			if got, err := io.ReadAll(resp.Body); err != nil || !bytes.Equal(got, want) {
				t.Fatalf("%d bytes of %d, %v", len(got), len(want), err)
			}
		})
	}
}

// A client that takes nothing is left; its connection does not hold a call for ever.
func TestSlowReaders(t *testing.T) {
	t.Parallel()
	ended := make(chan error, 1)
	s := start(t, func(_ context.Context, _ *wire.Request, out wire.Responder) error {
		_ = out.Head(200, nil, -1)
		chunk := bytes.Repeat([]byte("data: x\n\n"), 4<<10)
		var err error
		for err == nil {
			if _, err = out.Write(chunk); err == nil {
				err = out.Flush()
			}
		}
		ended <- err
		return err
	}, func(s *server.Server) { s.Patience.WriteStall = 200 * time.Millisecond })
	s.dial(t).send(get)
	if err := <-ended; !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("it ended with %v", err)
	}
}
