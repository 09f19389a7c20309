// Package client calls a ClickHouse server over its HTTP interface: statements with bound values,
// rows in as RowBinary, rows out as JSON lines. A response counts only if it is complete; an
// error of the server is returned as an Exception. Start reading at Client.
package client

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"

	"sluice/internal/kernel/sealed"
)

// Server configures the address of ClickHouse. URL is required.
type Server struct {
	URL      string        // "https://clickhouse.internal:8443", without user, path and query
	User     string        // empty means "default"
	Password sealed.String // may be empty
	Database string        // of every statement that is not Bare; letters, digits and underscores
	TLS      *tls.Config   // for https; nil means the authorities of the operating system
	Timeout  time.Duration // of each statement; 0 means 30 seconds
}

// Client is safe for concurrent use. Close it after its last use.
type Client struct {
	server  Server
	address *url.URL
	http    *http.Client
	zip     *zstd.Encoder
}

// connectLimit is the time limit for connecting to a server.
const connectLimit = 5 * time.Second

// New creates a Client. It connects when it is used.
func New(s Server) (*Client, error) {
	u, err := url.Parse(s.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, errors.New("the address of ClickHouse must be like https://clickhouse.internal:8443")
	}
	if s.User == "" {
		s.User = "default"
	}
	if s.Timeout == 0 {
		s.Timeout = 30 * time.Second
	}
	zip, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, fmt.Errorf("prepare compression: %w", err)
	}
	transport := &http.Transport{
		DialContext: dialer().DialContext, TLSClientConfig: s.TLS, TLSHandshakeTimeout: connectLimit,
		MaxIdleConnsPerHost: 16, IdleConnTimeout: 3 * time.Second, // servers close idle connections early: keep_alive_timeout may be 3 s
	}
	return &Client{
		server: s, address: &url.URL{Scheme: u.Scheme, Host: u.Host, Path: "/"}, zip: zip,
		http: &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
	}, nil
}

// Close closes idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Statement is one statement. SQL contains placeholders for values, see Params.
type Statement struct {
	SQL      string
	Params   *Params           // nil for none
	Settings map[string]string // of the server, for this statement only: {"final": "1"}
	Bare     bool              // without a database: even the server's default one may be missing
}

// Exec runs a statement without a result.
func (c *Client) Exec(ctx context.Context, s Statement) error {
	return c.Query(ctx, s, func(func(...any) error) error { return errors.New("unexpected response to a statement") })
}

// Query runs a statement and calls row for each row of the result. scan reads the row into
// pointers as for encoding/json, one for each column. An error of row ends the query. If Query
// fails, ignore the rows that row has received. The statement ends on the server when ctx does.
func (c *Client) Query(ctx context.Context, s Statement, row func(scan func(...any) error) error) error {
	ctx, stop := context.WithTimeout(ctx, c.server.Timeout)
	defer stop()
	q := c.question(s)
	maps.Copy(q, url.Values{
		"default_format": {"JSONCompactEachRow"}, "cancel_http_readonly_queries_on_client_close": {"1"},
		"output_format_json_quote_64bit_integers": {"0"}, "output_format_json_quote_denormals": {"0"},
		"max_execution_time": {strconv.Itoa(int(c.server.Timeout/time.Second) + 1)},
	})
	body, err := c.do(ctx, q, strings.NewReader(s.SQL), "")
	if err != nil {
		return err
	}
	defer func() { _ = body.Close() }() // unread rows are not needed
	return readRows(body, row)
}

// Insert stores rows, encoded in the order of columns, in the table. It returns when they are
// stored. After an error they may still be stored, and of rows in several partitions only some.
func (c *Client) Insert(ctx context.Context, table string, columns []string, rows []byte) error {
	ctx, stop := context.WithTimeout(ctx, c.server.Timeout)
	defer stop()
	ends, _ := ctx.Deadline() // the server must stop at the same time, and not store rows later
	q := c.question(Statement{Settings: map[string]string{
		"max_execution_time": strconv.Itoa(int(time.Until(ends)/time.Second) + 1),
		"async_insert":       "0", "max_partitions_per_insert_block": "0", "throw_on_max_partitions_per_insert_block": "0",
	}})
	q.Set("query", "INSERT INTO "+table+" ("+strings.Join(columns, ", ")+") FORMAT RowBinary")
	body, err := c.do(ctx, q, bytes.NewReader(c.zip.EncodeAll(rows, nil)), "zstd")
	if err != nil {
		return err
	}
	defer func() { _ = body.Close() }() // it is read to its end, otherwise the rows do not count
	return readRows(body, func(func(...any) error) error { return errors.New("unexpected response to an insertion") })
}

// question returns the URL parameters of a statement.
func (c *Client) question(s Statement) url.Values {
	q := url.Values{"wait_end_of_query": {"1"}, "enable_http_compression": {"1"}}
	if !s.Bare {
		q.Set("database", c.server.Database)
	}
	for name, value := range s.Settings {
		q.Set(name, value)
	}
	s.Params.into(q)
	return q
}

// do sends the request and returns the body of a successful response.
func (c *Client) do(ctx context.Context, q url.Values, sent io.Reader, encoding string) (io.ReadCloser, error) {
	endpoint := *c.address
	endpoint.RawQuery = q.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, endpoint.String(), sent)
	if err != nil {
		return nil, fmt.Errorf("query ClickHouse: %w", err)
	}
	req.Header.Set("X-ClickHouse-User", c.server.User)
	if !c.server.Password.Empty() {
		req.Header.Set("X-ClickHouse-Key", c.server.Password.Reveal())
	}
	if encoding != "" {
		req.Header.Set("Content-Encoding", encoding)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, unreachable(ctx, err)
	}
	if err := check(resp); err != nil {
		return nil, errors.Join(err, resp.Body.Close())
	}
	return resp.Body, nil
}

// check rejects a response with an error, and one whose end looks like a broken connection.
func check(resp *http.Response) error {
	if resp.StatusCode != http.StatusOK {
		return refusalOf(resp)
	}
	if resp.ProtoMajor == 1 && resp.ContentLength < 0 && len(resp.TransferEncoding) == 0 && !resp.Uncompressed {
		return errors.New("query ClickHouse: the response has no length; a proxy in between may be too old")
	}
	return nil
}
