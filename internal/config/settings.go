package config

import (
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/caarlos0/env/v11"

	"sluice/internal/sealed"
)

// Settings is everything an operator can choose, grouped by subject. The zero
// Settings is not usable: start from Default or Load. Secrets are sealed, so that
// printing or logging a Settings shows none.
type Settings struct {
	Server      Server      `title:"Listening"`
	TLS         TLS         `title:"TLS of the listener"`
	CORS        CORS        `title:"Browsers"`
	Data        Data        `title:"Files"`
	Database    Database    `title:"Control-plane database"`
	Redis       Redis       `title:"Limits over many nodes"`
	Security    Security    `title:"Keys and trust"`
	Bootstrap   Bootstrap   `title:"First start"`
	People      People      `title:"People"`
	Mail        Mail        `title:"Mail"`
	MCP         MCP         `title:"Tool servers"`
	Features    Features    `title:"Features"`
	Deployments Deployments `title:"Gateway deployments"`
	Requests    Requests    `title:"Requests"`
	Routing     Routing     `title:"Routing configs"`
	Upstream    Upstream    `title:"Upstream calls"`
	Cloud       Cloud       `title:"Cloud identities"`
	Logs        Logs        `title:"Request log"`
	LogStore    LogStore    `title:"Bodies of the request log"`
	Analytics   Analytics   `title:"Rows of the request log"`
	Models      Models      `title:"Model catalog"`
	Audit       Audit       `title:"Audit log"`
	Telemetry   Telemetry   `title:"Program log and metrics"`

	OpenTelemetry OpenTelemetry `title:"OpenTelemetry"`
}

// Server says where and how the gateway listens.
type Server struct {
	// Listen is the host name or IP address to listen on: `127.0.0.1` for this
	// machine alone, `0.0.0.0` or `::` for every interface. A port may follow, as in
	// `0.0.0.0:80` and `[::1]:80`, or stand alone, as in `:80`, for every interface; it
	// beats a `PORT` of the same or a weaker place: `--port` beats a `LISTEN` of the
	// environment.
	Listen string `env:"LISTEN" envDefault:"127.0.0.1" check:"listen"`

	// Port is the TCP port to listen on. 0 takes a free one and logs it.
	Port int `env:"PORT" envDefault:"8787" range:"0..65535"`

	// UnusedPerClient is how many connections from one address, or from one /64 network of
	// IPv6, may be open that have not sent a complete request: a further one closes the oldest
	// of them. A connection that has sent one does not count, so that many clients behind one
	// proxy can call. 0 means half of the connections that the limit of open files allows,
	// and at most 4,096.
	UnusedPerClient int `env:"CONNECTIONS_WITHOUT_REQUEST_PER_CLIENT" envDefault:"0" range:"0..1000000"`

	// AdminPerMinute is how many requests to the administration interface each API key or
	// signed-in person may make in a minute at this instance: a fifth of them at once, the
	// others at an even pace. One with a body of more than 16 KiB counts once for each
	// 16 KiB that it begins. 0 means no limit.
	AdminPerMinute int `env:"ADMIN_REQUESTS_PER_MINUTE" envDefault:"300" range:"0..1000000"`

	// StrictAdmin refuses requests of the administration with fields or query parameters that
	// it does not know. When `OFF` they are ignored and named in the answer's header
	// `x-gateway-warnings`, unless the request has the header `x-gateway-strict: true`.
	StrictAdmin bool `env:"STRICT_ADMIN_REQUESTS" envDefault:"OFF"`

	// RecordsPerKind is how many records of one kind, such as API keys, configs or prompts,
	// a workspace may have, or the organisation where they belong to it alone. Records that
	// are deleted do not count. 0 means no limit.
	RecordsPerKind int `env:"RECORDS_PER_KIND" envDefault:"100000" range:"0..10000000"`

	// IngestPerMinute is how many entries of feedback, custom logs, spans and logs of
	// applications each workspace may send in a minute at this instance, whatever keys it
	// sends them with: a fifth of them at once, the others at an even pace. What is longer
	// than 16 KiB counts once for each 16 KiB that it begins, and a prompt that is rendered
	// counts as one. 0 means no limit.
	IngestPerMinute int `env:"INGEST_ENTRIES_PER_MINUTE" envDefault:"300000" range:"0..100000000"`

	// DrainDelay is how long a gateway that is told to stop goes on taking calls, each the
	// last of its connection, while its health is 503 already: as long as load balancers
	// need to send callers elsewhere. With 0 it takes no more connections at once.
	DrainDelay time.Duration `env:"DRAIN_DELAY" envDefault:"0" range:"0..3600000"`

	// DrainTimeout is how long a stopping gateway waits for running requests and
	// streams before it ends them. Their callers are told so, and have another second to
	// take that. So long it waits for responses in the background that it follows, too.
	DrainTimeout time.Duration `env:"DRAIN_TIMEOUT" envDefault:"30000" range:"0..3600000"`
}

// complete moves a port in Listen to where it belongs, unless a stronger source has Port.
func (s *Server) complete(portWins bool, derived func(name, from string)) {
	host, port, ok := splitListen(s.Listen)
	if !ok {
		return
	}
	s.Listen = host
	if port >= 0 && !portWins {
		s.Port = port
		derived("PORT", "LISTEN")
	}
}

// splitListen reads what LISTEN may be: "::1", "[::1]", "[::1]:80", "localhost:80", and
// ":80", whose host is empty. The port is -1 where there is none.
func splitListen(text string) (host string, port int, ok bool) {
	bare := strings.TrimSuffix(strings.TrimPrefix(text, "["), "]")
	if ip, err := netip.ParseAddr(bare); err == nil && (bare == text || ip.Is6() && text == "["+bare+"]") {
		return bare, -1, true
	}
	host, digits, err := net.SplitHostPort(text)
	if err != nil {
		return text, -1, isHost(text) && strings.Trim(text, "0123456789") != "" // a port alone needs its colon
	}
	n, err := strconv.ParseUint(digits, 10, 16)
	return host, int(n), err == nil && (host == "" || isHost(host))
}

// Address is what net.Listen takes, for example "127.0.0.1:8787" or "[::]:80"; ":80" is
// every interface, whether or not the machine has IPv6.
func (s Server) Address() string { return net.JoinHostPort(s.Listen, strconv.Itoa(s.Port)) }

// Data says where the gateway keeps its files.
type Data struct {
	// Dir is the directory of the SQLite database, the journal, the request log and
	// the generated encryption key. It is made with mode 0700 when it is missing.
	Dir string `env:"DATA_DIR" envDefault:"./data"`
}

// Bootstrap fixes what the first start would otherwise make up.
type Bootstrap struct {
	// AdminKey is the value of the Admin API key made at the first start. Without it
	// a random key is made and printed once. Later starts ignore it.
	AdminKey sealed.String `env:"BOOTSTRAP_ADMIN_KEY" check:"gateway-key"`

	// WorkspaceKey is the value of the workspace service key made at the first start,
	// in the same way. It must differ from `BOOTSTRAP_ADMIN_KEY`.
	WorkspaceKey sealed.String `env:"BOOTSTRAP_WORKSPACE_KEY" check:"gateway-key"`
}

// Default is complete and runnable: SQLite and the journal under ./data, listening
// on 127.0.0.1:8787. It panics when a default in this package is malformed.
func Default() Settings {
	var s Settings
	opts := env.Options{Environment: map[string]string{}, FuncMap: parsers()}
	if err := env.ParseWithOptions(&s, opts); err != nil {
		panic(fmt.Sprintf("config: defaults: %v", err))
	}
	return s
}

// validate reports what no single value shows: settings that need or exclude each
// other.
func (s *Settings) validate(report reporter) {
	s.TLS.validate(report)
	s.Database.validate(report)
	s.Redis.validate(report)
	s.Logs.validate(report)
	s.LogStore.validate(report)
	s.Analytics.validate(report)
	s.Mail.validate(report)
	s.OpenTelemetry.validate(report)
	s.People.validate(report)
	b := s.Bootstrap
	if !b.AdminKey.Empty() && b.AdminKey.Equal(b.WorkspaceKey.Reveal()) {
		report("BOOTSTRAP_WORKSPACE_KEY", "is the same as BOOTSTRAP_ADMIN_KEY", "two different keys")
	}
}
