package client_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"sluice/internal/kernel/sealed"
	"sluice/internal/storage/requestlog/clickhouse/client"
)

// serve answers as a server would, and returns a client of it.
func serve(t *testing.T, response http.HandlerFunc) *client.Client {
	t.Helper()
	s := httptest.NewServer(response)
	t.Cleanup(s.Close)
	return newClient(t, client.Server{URL: s.URL, User: "u", Password: sealed.New("p4ssw0rd"), Database: "d", Timeout: 5 * time.Second})
}

func newClient(t *testing.T, s client.Server) *client.Client {
	t.Helper()
	c, err := client.New(s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// rows asks for numbers.
func rows(t *testing.T, c *client.Client) (list []int64, err error) {
	t.Helper()
	var p client.Params
	err = c.Query(t.Context(), client.Statement{SQL: "SELECT secret-value " + p.Text("secret-value"), Params: &p}, func(scan func(...any) error) error {
		var n int64
		err := scan(&n)
		list = append(list, n)
		return err
	})
	return list, err
}

// hijacked writes an answer to the connection itself and closes it.
func hijacked(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			panic(err)
		}
		_, _ = io.WriteString(conn, text)
		_ = conn.Close()
	}
}

// An answer counts when it is whole, and never otherwise.
func TestAnswersCountWhenTheyAreWhole(t *testing.T) {
	t.Parallel()
	const late = "Code: 241. DB::Exception: Memory limit exceeded"
	for name, tt := range map[string]struct {
		handler       http.HandlerFunc
		message       string // empty when it counts
		code          int
		isUnavailable bool
	}{
		"whole":                   {handler: func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "[1]\n[2]\n") }},
		"empty":                   {handler: func(http.ResponseWriter, *http.Request) {}},
		"refused":                 {handler: hijacked("HTTP/1.1 500 x\r\nX-ClickHouse-Exception-Code: 60\r\nContent-Length: 40\r\n\r\nCode: 60. DB::Exception: no such table.\n\n"), message: "no such table", code: client.UnknownTable},
		"refused without a text":  {handler: hijacked("HTTP/1.1 403 x\r\nX-ClickHouse-Exception-Code: 516\r\nContent-Length: 0\r\n\r\n"), message: "516", code: client.NoAuthorisation},
		"late exception":          {handler: func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "[1]\n"+late) }, message: "Memory limit", code: client.MemoryLimit},
		"tagged exception":        {handler: func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "[1]\n__exception__\r\nabc\r\n"+late) }, message: "Memory limit", code: client.MemoryLimit},
		"something else":          {handler: func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "[1]\n<html>") }, message: "unexpected data instead of rows"},
		"half a row":              {handler: func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "[1]\n[2") }, message: "read ClickHouse row"},
		"more columns":            {handler: func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "[1,2]\n") }, message: "2 columns"},
		"fewer columns":           {handler: func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "[]\n") }, message: "0 columns"},
		"cut between rows":        {handler: hijacked("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n[1]\n\r\n"), message: "is unreachable", isUnavailable: true},
		"cut before its length":   {handler: hijacked("HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n[1]\n"), message: "is unreachable", isUnavailable: true},
		"without an end":          {handler: hijacked("HTTP/1.1 200 OK\r\n\r\n[1]\n"), message: "the response has no length"},
		"cut before it began":     {handler: hijacked(""), message: "is unreachable", isUnavailable: true},
		"a proxy without servers": {handler: hijacked("HTTP/1.1 502 x\r\nContent-Length: 3\r\n\r\nbad"), message: "502", isUnavailable: true},
		"led elsewhere":           {handler: func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/other", http.StatusFound) }, message: "302"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			list, err := rows(t, serve(t, tt.handler))
			if (err == nil) != (tt.message == "") || err != nil && !strings.Contains(err.Error(), tt.message) {
				t.Errorf("%v, %v; want %q", list, err, tt.message)
			}
			if tt.code != 0 && !client.Is(err, tt.code) || errors.Is(err, client.ErrUnreachable) != tt.isUnavailable {
				t.Errorf("%v: want code %d, unreachable %v", err, tt.code, tt.isUnavailable)
			}
			if err != nil && (strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "p4ssw0rd")) {
				t.Errorf("%v has a value of the statement", err)
			}
		})
	}
}

// Values and credentials go where they belong.
func TestWhatIsSent(t *testing.T) {
	t.Parallel()
	type sent struct{ user, key, sql, value, list, database, end string }
	got := make(chan sent, 1)
	c := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		sql, _ := io.ReadAll(r.Body)
		q := r.URL.Query()
		got <- sent{r.Header.Get("X-ClickHouse-User"), r.Header.Get("X-ClickHouse-Key"), string(sql), q.Get("param_p0"), q.Get("param_p1"), q.Get("database"), q.Get("wait_end_of_query")}
	})
	var p client.Params
	sql := "SELECT 1 WHERE a = " + p.Text("it's\ta \\ \xff\n") + " AND b IN " + p.Texts([]string{"x'y", `\`, ""})
	if err := c.Exec(t.Context(), client.Statement{SQL: sql, Params: &p}); err != nil {
		t.Fatal(err)
	}
	want := sent{"u", "p4ssw0rd", "SELECT 1 WHERE a = {p0:String} AND b IN {p1:Array(String)}", `it's\ta \\ ` + "\uFFFD" + `\n`, `['x\'y','\\','']`, "d", "1"}
	if s := <-got; s != want {
		t.Errorf("sent %+v, want %+v", s, want)
	}
}

// A statement ends with who asked, and that is not held against the server.
func TestStatementsEndWithWhoAsked(t *testing.T) {
	t.Parallel()
	requested, left := make(chan struct{}), make(chan struct{})
	c := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		close(requested)
		<-r.Context().Done()
		close(left)
	})
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-requested; cancel() }()
	err := c.Exec(ctx, client.Statement{SQL: "SELECT sleep(3)"})
	if !errors.Is(err, context.Canceled) || errors.Is(err, client.ErrUnreachable) {
		t.Errorf("got %v, want that it was cancelled", err)
	}
	<-left
}

func TestTLSTrustsWhatItIsToldTo(t *testing.T) {
	t.Parallel()
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "[1]\n") }))
	t.Cleanup(s.Close)
	pool := x509.NewCertPool()
	pool.AddCert(s.Certificate())
	for trusted, roots := range map[bool]*x509.CertPool{true: pool, false: x509.NewCertPool()} {
		_, err := rows(t, newClient(t, client.Server{URL: s.URL, TLS: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}}))
		if (err == nil) != trusted {
			t.Errorf("trusted %v: %v", trusted, err)
		}
	}
}
