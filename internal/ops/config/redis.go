package config

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"sluice/internal/kernel/sealed"
)

// Where the counters of limits are kept.
const (
	MemoryStore = "memory"
	RedisStore  = "redis"
)

// Redis sets where nodes store the counters of limits. See docs/limits.md.
type Redis struct {
	// Store is the store for limit counters. With `memory` each node counts separately.
	// With `redis` limits apply across all nodes, and each node restores the values that
	// reversible redaction of another node hid. If it is not set, the gateway uses `redis` when `REDIS_URL`, `REDIS_HOST` or `REDIS_CLUSTER_ENDPOINTS` is set.
	Store string `env:"CACHE_STORE" envDefault:"memory" oneof:"memory,redis"`

	// URL is the complete address of Redis: `redis://name:password@host:6379/0`, or
	// `rediss://` for TLS. It overrides `REDIS_HOST` and `REDIS_PORT`. A user name and
	// password in it override `REDIS_USERNAME` and `REDIS_PASSWORD`.
	URL sealed.String `env:"REDIS_URL" check:"redis-url"`

	// Host is the host name or IP address of the Redis server, or of one server of a
	// cluster.
	Host string `env:"REDIS_HOST" check:"host"`

	// Port is the port of the Redis server.
	Port int `env:"REDIS_PORT" envDefault:"6379" range:"1..65535"`

	// Mode is `single` for one server, with or without replicas, or `cluster` for a Redis
	// Cluster.
	Mode string `env:"REDIS_MODE" envDefault:"single" oneof:"single,cluster"`

	// Endpoints are additional servers of the cluster, each as `host:port`. The gateway
	// discovers the rest of the cluster from them.
	Endpoints []string `env:"REDIS_CLUSTER_ENDPOINTS" check:"endpoint"`

	// TLS encrypts connections to Redis and verifies the certificate and host name of the
	// server.
	TLS bool `env:"REDIS_TLS_ENABLED" envDefault:"OFF"`

	// CA contains the certificate authorities that verify Redis, in PEM form. If it is
	// empty, the gateway uses those of the operating system.
	CA string `env:"REDIS_TLS_CA" check:"certificates"`

	// Username is the Redis user (access control list). If it is empty, the gateway uses
	// the default user of Redis.
	Username string `env:"REDIS_USERNAME"`

	// Password is the password for Redis.
	Password sealed.String `env:"REDIS_PASSWORD"`

	// Timeout is the time limit of one query to Redis. A query that takes longer counts as
	// failed.
	Timeout time.Duration `env:"REDIS_TIMEOUT" envDefault:"1000" range:"10..60000"`

	// Without decides what happens to calls with limits while Redis is unavailable.
	// `refuse` rejects them with 503. `local` lets each node continue with its own data, so
	// N nodes can use up to N times the remaining limit. Calls without limits are always
	// served.
	Without string `env:"LIMITS_WITHOUT_REDIS" envDefault:"refuse" oneof:"refuse,local"`
}

// complete settles whether Redis is used. A choice is left alone.
func (r *Redis) complete(chosen bool, derived func(name, from string)) {
	for _, from := range []struct {
		name string
		set  bool
	}{{"REDIS_URL", !r.URL.Empty()}, {"REDIS_HOST", r.Host != ""}, {"REDIS_CLUSTER_ENDPOINTS", len(r.Endpoints) > 0}} {
		if !chosen && from.set {
			r.Store = RedisStore
			derived("CACHE_STORE", from.name)
			return
		}
	}
}

func (r *Redis) validate(report reporter) {
	if r.Enabled() && len(r.Addresses()) == 0 {
		report("REDIS_HOST", "is required with CACHE_STORE redis", "the host name or IP address of the Redis server, or set REDIS_URL")
	}
	if r.Mode == "cluster" && r.Database() != 0 {
		report("REDIS_URL", "contains a database number, but a cluster has only one database", "an address without a number after the last slash")
	}
}

// Enabled reports whether nodes share their counters.
func (r *Redis) Enabled() bool { return r.Store == RedisStore }

// address is URL taken apart; never nil.
func (r *Redis) address() *url.URL {
	u, err := url.Parse(r.URL.Reveal())
	if err != nil {
		return new(url.URL) // the check refused it
	}
	return u
}

// Addresses are what is dialled, "redis.internal:6379".
func (r *Redis) Addresses() (list []string) {
	switch u := r.address(); {
	case u.Host != "":
		port := u.Port()
		if port == "" {
			port = strconv.Itoa(r.Port)
		}
		list = append(list, net.JoinHostPort(u.Hostname(), port))
	case r.Host != "":
		list = append(list, net.JoinHostPort(r.Host, strconv.Itoa(r.Port)))
	}
	return append(list, r.Endpoints...)
}

// Login is the user and password; both may be empty.
func (r *Redis) Login() (user string, password sealed.String) {
	user, password = r.Username, r.Password
	if u := r.address(); u.User != nil {
		user = u.User.Username()
		if secret, ok := u.User.Password(); ok {
			password = sealed.New(secret)
		}
	}
	return user, password
}

// Database is the number after the last slash of the URL; 0 without one.
func (r *Redis) Database() int {
	n, _ := strconv.Atoi(strings.Trim(r.address().Path, "/")) // the check refused what is none
	return n
}

// TLSConfig is how connections are protected; nil for not at all.
func (r *Redis) TLSConfig() *tls.Config {
	if !r.TLS && r.address().Scheme != "rediss" {
		return nil
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if r.CA != "" {
		c.RootCAs = x509.NewCertPool()
		c.RootCAs.AppendCertsFromPEM([]byte(r.CA))
	}
	return c
}

// isRedisURL accepts redis:// and rediss:// with a host and, perhaps, a database.
func isRedisURL(text string) bool {
	u, err := url.Parse(text)
	if err != nil || !isURL(text, "redis", "rediss") || u.RawQuery != "" {
		return false
	}
	path := strings.TrimPrefix(u.Path, "/")
	n, err := strconv.ParseUint(path, 10, 16)
	return path == "" || err == nil && n < 1024
}

func isEndpoint(text string) bool {
	host, port, err := net.SplitHostPort(text)
	if err != nil {
		return false
	}
	n, err := strconv.ParseUint(port, 10, 16)
	return isHost(host) && err == nil && n > 0
}
