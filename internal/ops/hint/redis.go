package hint

// redisFaults are known errors of Redis. The first match counts.
// Source: https://redis.io/docs/latest/develop/reference/protocol-spec/#simple-errors, and
// what Redis 7.0 answers.
var redisFaults = []knownError{
	{[]string{"NOAUTH", "WRONGPASS", "invalid password"}, "check REDIS_USERNAME and REDIS_PASSWORD"},
	{[]string{"NOPERM", "can't run this command"}, "allow the user of REDIS_USERNAME to run scripts, and to write hashes and keys that begin with sluice: (+@scripting, +@hash, +@keyspace, +time, ~sluice:*)"},
	{[]string{"READONLY"}, "this is a replica; set REDIS_URL or REDIS_HOST to the server that accepts writes"},
	{[]string{"MOVED", "CROSSSLOT"}, "this is a node of a Redis Cluster; set REDIS_MODE=cluster"},
	{[]string{"MISCONF", "OOM "}, "Redis rejects writes; check its log"},
	{[]string{"no such host", "server misbehaving"}, "check REDIS_HOST, and the DNS resolver of this machine"},
	{[]string{"connection refused"}, "check that Redis runs and listens at REDIS_URL, or at REDIS_HOST and REDIS_PORT"},
	{[]string{"x509:", "certificate"}, "set REDIS_TLS_CA to the CA of the server's certificate, and REDIS_HOST to a name in it"},
	{[]string{"unknown message type"}, "the server at REDIS_HOST and REDIS_PORT is not Redis; check these settings"},
	{[]string{"deadline exceeded", "i/o timeout", "EOF", "first record does not look like a TLS handshake", "connection reset"}, "check REDIS_HOST, REDIS_PORT, whether that port uses TLS (REDIS_TLS_ENABLED), and the firewall"},
}

// anyRedisFault is the hint for all other errors.
const anyRedisFault = "check REDIS_URL or REDIS_HOST, REDIS_PORT, REDIS_MODE, REDIS_TLS_ENABLED, REDIS_USERNAME and REDIS_PASSWORD"

// Redis returns what to do about an error of Redis.
func Redis(err error) string { return findHint(redisFaults, err.Error(), anyRedisFault) }
