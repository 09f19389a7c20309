package config

import (
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/caarlos0/env/v11"

	"sluice/internal/kernel/sealed"
)

// Settings is everything an operator can choose, grouped by subject. The zero
// Settings is not usable: start from Default or Load. Secrets are sealed, so that
// printing or logging a Settings shows none.
type Settings struct {
	Server      Server      `title:"Server"`
	TLS         TLS         `title:"TLS of the listener"`
	CORS        CORS        `title:"Browser access (CORS)"`
	Data        Data        `title:"Data directory"`
	Database    Database    `title:"Control-plane database"`
	Redis       Redis       `title:"Limits across nodes"`
	Caching     Caching     `title:"Response cache"`
	Security    Security    `title:"Security"`
	Bootstrap   Bootstrap   `title:"First start"`
	People      People      `title:"Sign-in"`
	Mail        Mail        `title:"Email"`
	MCP         MCP         `title:"MCP servers"`
	Features    Features    `title:"Features"`
	Deployments Deployments `title:"Gateway deployments"`
	Requests    Requests    `title:"Client requests"`
	Routing     Routing     `title:"Routing configs"`
	Upstream    Upstream    `title:"Provider calls"`
	Cloud       Cloud       `title:"Cloud identities"`
	Logs        Logs        `title:"Request log"`
	LogStore    LogStore    `title:"Request log bodies"`
	Analytics   Analytics   `title:"Request log rows"`
	Models      Models      `title:"Model catalog"`
	Audit       Audit       `title:"Audit log"`
	Telemetry   Telemetry   `title:"Server log and metrics"`

	OpenTelemetry OpenTelemetry `title:"OpenTelemetry"`
}

// Server configures the listener, the limits of administration requests, and shutdown.
type Server struct {
	// Listen is the host name or IP address to listen on: `127.0.0.1` for this machine
	// only, `0.0.0.0` or `::` for all interfaces. You can add a port, as in `0.0.0.0:80`
	// and `[::1]:80`. `:80` means that port on all interfaces. The port overrides a `PORT`
	// from the same source or a weaker one. For example, it does not override `--port` if
	// `LISTEN` is in the environment.
	Listen string `env:"LISTEN" envDefault:"127.0.0.1" check:"listen"`

	// Port is the TCP port to listen on. With 0 the gateway uses a free port and logs it.
	Port int `env:"PORT" envDefault:"8787" range:"0..65535"`

	// UnusedPerClient is the maximum number of open connections without a complete request,
	// for each client address or IPv6 /64 network. A further connection closes the oldest
	// of them. Connections that have sent a complete request do not count, so many clients
	// can share one proxy. 0 means half of the connections that the limit of open files
	// allows, and at most 4,096.
	UnusedPerClient int `env:"CONNECTIONS_WITHOUT_REQUEST_PER_CLIENT" envDefault:"0" range:"0..1000000"`

	// AdminPerMinute is the maximum number of administration requests a minute for each API
	// key or signed-in user, on each node. One fifth of them can come at once; the rest is
	// spread evenly over the minute. A body counts as one request for each 16 KiB or part
	// of it. 0 disables the limit.
	AdminPerMinute int `env:"ADMIN_REQUESTS_PER_MINUTE" envDefault:"300" range:"0..1000000"`

	// StrictAdmin rejects administration requests with unknown fields or query parameters.
	// When `OFF`, the gateway ignores them and lists them in the response header
	// `x-gateway-warnings`. Requests with the header `x-gateway-strict: true` are always
	// checked.
	StrictAdmin bool `env:"STRICT_ADMIN_REQUESTS" envDefault:"OFF"`

	// RecordsPerKind is the maximum number of records of each kind, such as API keys,
	// configs or prompts, in a workspace. The same limit applies to records that belong to
	// the organisation alone. Deleted records do not count. 0 disables the limit.
	RecordsPerKind int `env:"RECORDS_PER_KIND" envDefault:"100000" range:"0..10000000"`

	// IngestPerMinute is the maximum number of entries that each workspace can send a
	// minute to each node, with all its API keys together. Entries are feedback, custom
	// logs, spans and application logs. One fifth of them can come at once; the rest is
	// spread evenly over the minute. An entry counts once for each 16 KiB or part of it. A
	// rendered prompt counts as one entry. 0 disables the limit.
	IngestPerMinute int `env:"INGEST_ENTRIES_PER_MINUTE" envDefault:"300000" range:"0..100000000"`

	// DrainDelay is how long a stopping gateway continues to accept calls while its health
	// check returns 503. Each connection closes after its call. Set it to the time that
	// load balancers need to send callers elsewhere. With 0 the gateway stops accepting
	// connections at once.
	DrainDelay time.Duration `env:"DRAIN_DELAY" envDefault:"0" range:"0..3600000"`

	// DrainTimeout is how long a stopping gateway waits for running requests and streams.
	// Then it ends them with an error, and their clients have one more second to receive
	// it. For the same time the gateway continues to poll background responses.
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

// Data sets where the gateway stores its files.
type Data struct {
	// Dir is the directory of the SQLite database, the journal, the request log and the
	// generated encryption key. If it is missing, the gateway creates it with mode 0700.
	Dir string `env:"DATA_DIR" envDefault:"./data"`
}

// Bootstrap sets values that the first start otherwise generates.
type Bootstrap struct {
	// AdminKey is the value of the Admin API key that the first start creates. If it is
	// empty, the gateway generates a random key and prints it once. Later starts ignore
	// this setting.
	AdminKey sealed.String `env:"BOOTSTRAP_ADMIN_KEY" check:"gateway-key"`

	// WorkspaceKey is the value of the workspace service key that the first start creates,
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
	s.Caching.validate(&s.Redis, report)
	s.Logs.validate(report)
	s.LogStore.validate(report)
	s.Analytics.validate(report)
	s.Mail.validate(report)
	s.OpenTelemetry.validate(report)
	s.People.validate(report)
	b := s.Bootstrap
	if !b.AdminKey.Empty() && b.AdminKey.Equal(b.WorkspaceKey.Reveal()) {
		report("BOOTSTRAP_WORKSPACE_KEY", "must differ from BOOTSTRAP_ADMIN_KEY", "two different keys")
	}
}
