package doctor

import (
	"net"
	"testing"
	"time"

	"sluice/internal/kernel/sealed"
	"sluice/internal/limits/redis"
	"sluice/internal/limits/redistest"
)

// What is wrong with Redis is told with its cure, by a real server.
func TestDoctorOnRedis(t *testing.T) {
	t.Parallel()
	message := func(server redis.Server) string { return Redis{true, server}.check(t.Context()).Message() }
	settingsFor := func(s *redistest.Server) redis.Server {
		return redis.Server{Addresses: []string{s.Address}, Timeout: 5 * time.Second}
	}
	open := redistest.Start(t)
	good := settingsFor(open)
	wants(t, message(good), good.Addresses[0]+" responds")

	_, port, err := net.SplitHostPort(open.Address)
	if err != nil {
		t.Fatal(err)
	}
	replica := redistest.Start(t, "--replicaof", "127.0.0.1", port)
	wants(t, message(settingsFor(replica)), "run a script: ", "READONLY", "; this is a replica")

	withPassword := settingsFor(redistest.Start(t,
		"--user", "default", "on", ">secret", "~sluice:*", "+@all", "--user", "reader", "on", ">secret", "~*", "+@read", "+@connection",
		"--user", "lacking", "on", ">secret", "~sluice:*", "+@all", "-hincrby", "--user", "narrow", "on", ">secret", "~sluice:*", "+@scripting", "+@hash", "+@keyspace", "+time"))
	wants(t, message(withPassword), "connect: NOAUTH", "; check REDIS_USERNAME and REDIS_PASSWORD")
	withPassword.Password = sealed.New("wrong")
	wants(t, message(withPassword), "connect: WRONGPASS", "; check REDIS_USERNAME and REDIS_PASSWORD")
	withPassword.Password = sealed.New("secret")
	wants(t, message(withPassword), withPassword.Addresses[0]+" responds")
	withPassword.Username = "reader"
	wants(t, message(withPassword), "run a script: NOPERM", "; allow the user of REDIS_USERNAME to run scripts")
	withPassword.Username = "lacking"
	wants(t, message(withPassword), "run a script: ", "(HINCRBY); allow the user of REDIS_USERNAME to run scripts", "(+@scripting, +@hash, +@keyspace, +time, ~sluice:*)")
	withPassword.Username = "narrow" // as that says
	wants(t, message(withPassword), withPassword.Addresses[0]+" responds")

	good.Addresses = []string{"127.0.0.1:1"}
	wants(t, message(good), "connect: dial tcp", "; check that Redis runs")
}
