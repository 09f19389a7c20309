package e2e

import (
	"strings"
	"testing"
	"time"

	"sluice/internal/storage/sqlstore/storetest"
	"sluice/internal/test/upstream"
)

// recovery bounds how long a gateway may take to see that a server came or went.
const recovery = 20 * time.Second

// The database goes away under traffic and comes back: every model call is
// answered and recorded, what can be read is read, writes are refused with the
// reason, health says degraded, and afterwards everything is as before without
// anybody doing anything.
func TestOutageOfTheWriter(t *testing.T) {
	t.Parallel()
	t.Run("postgres with a replica", func(t *testing.T) {
		t.Parallel()
		primary := storetest.StartPostgres(t, nil)
		settings := primary.Settings(t)
		replica := primary.Standby(t)
		outage(t, primary, true, with("DB_READER_HOST=127.0.0.1", "DB_READER_PORT="+jsonText(replica.Endpoint.Port)), withDatabase(settings))
	})
	t.Run("mariadb alone", func(t *testing.T) {
		t.Parallel()
		server := storetest.StartMariaDB(t, nil)
		outage(t, server, false, withDatabase(server.Settings(t)))
	})
}

// outage stops a server under a gateway and starts it again. With a replica the
// administration still answers reads meanwhile, and another gateway may start.
func outage(t *testing.T, server *storetest.Server, replica bool, storage ...option) {
	up := upstream.Start(t)
	storage = append(storage, with("DB_WRITER_HADR_MODE=ON"))
	g := start(t, storage...)
	g.saveProvider("main", up)
	config := g.saveConfig("Main", `{"provider":"@main"}`)
	// A replica lags a little, and what follows it too.
	eventually(t, recovery, "the config is in force", func() bool {
		return g.call("POST", "/v1/chat/completions", hello, "x-gateway-config: "+config).Status == 200
	})
	c := startClients(g, 4, []string{"x-gateway-config: " + config})
	eventually(t, callLimit, "there is load", func() bool { return c.count() > 20 })
	if s := g.health(); s != "ok" {
		t.Errorf("health before is %q", s)
	}

	server.Stop()
	eventually(t, recovery, "health says degraded", func() bool { return g.health() == "degraded" })
	before := c.count()
	refused := g.call("POST", "/v1/configs", jsonText(object{"name": "Late", "config": object{"provider": "@main"}}))
	if refused.Status != 503 || !strings.Contains(refused.Body, "AB") {
		t.Errorf("a write gets %d %s", refused.Status, refused.Body)
	}
	read := g.call("GET", "/v1/configs/"+config, "")
	if replica && read.Status != 200 {
		t.Errorf("a read gets %d %s", read.Status, read.Body)
	}
	if !replica && read.Status != 503 {
		t.Errorf("a read of what is not there gets %d %s", read.Status, read.Body)
	}
	meanwhile := g.chat("x-gateway-config: " + config).Header.Get("x-gateway-request-id")
	if replica {
		g.awaitLog(meanwhile)
		late := start(t, append(storage, withDir(t.TempDir()))...)
		late.chat("x-gateway-config: " + config)
	}
	eventually(t, callLimit, "the load goes on", func() bool { return c.count() > before+200 })

	server.Start(t)
	eventually(t, recovery, "health says ok", func() bool { return g.health() == "ok" })
	g.awaitLog(meanwhile)
	later := g.saveConfig("Later", `{"provider":"@main"}`)
	eventually(t, recovery, "a new config is in force", func() bool {
		return g.call("POST", "/v1/chat/completions", hello, "x-gateway-config: "+later).Status == 200
	})
	answered := c.stop()
	if bad := c.wrong(); len(bad) > 0 {
		t.Errorf("%d of %d calls failed, the first: %s", len(bad), len(bad)+len(answered), bad[0])
	}
	t.Logf("%d calls answered, none refused", len(answered))
}

// health is the word of /v1/health, which answers 200 as long as calls are served.
func (g *gateway) health() string {
	g.t.Helper()
	return g.call("GET", "/v1/health", "", "x-gateway-api-key").want(g.t, 200).get("status").String()
}
