package app

import (
	"net"
	"strconv"
	"testing"

	"sluice/internal/cluster/redistest"
	"sluice/internal/config"
	"sluice/internal/sealed"
)

// What is wrong with Redis is told with its cure, by a real server.
func TestDoctorOnRedis(t *testing.T) {
	t.Parallel()
	settingsFor := func(s *redistest.Server) config.Settings {
		set := freshSettings(t)
		host, port, err := net.SplitHostPort(s.Address)
		if err != nil {
			t.Fatal(err)
		}
		set.Redis.Store, set.Redis.Host = config.RedisStore, host
		if set.Redis.Port, err = strconv.Atoi(port); err != nil {
			t.Fatal(err)
		}
		return set
	}
	message := func(set config.Settings) string { return checkRedis(t.Context(), set, discard).Message() }
	open := redistest.Start(t)
	good := settingsFor(open)
	wants(t, message(good), good.Redis.Addresses()[0]+" responds")

	replica := redistest.Start(t, "--replicaof", "127.0.0.1", strconv.Itoa(good.Redis.Port))
	wants(t, message(settingsFor(replica)), "run a script: ", "READONLY", "; this is a replica")

	withPassword := settingsFor(redistest.Start(t,
		"--user", "default", "on", ">secret", "~sluice:*", "+@all", "--user", "reader", "on", ">secret", "~*", "+@read", "+@connection",
		"--user", "lacking", "on", ">secret", "~sluice:*", "+@all", "-hincrby", "--user", "narrow", "on", ">secret", "~sluice:*", "+@scripting", "+@hash", "+@keyspace", "+time"))
	wants(t, message(withPassword), "connect: NOAUTH", "; check REDIS_USERNAME and REDIS_PASSWORD")
	withPassword.Redis.Password = sealed.New("wrong")
	wants(t, message(withPassword), "connect: WRONGPASS", "; check REDIS_USERNAME and REDIS_PASSWORD")
	withPassword.Redis.Password = sealed.New("secret")
	wants(t, message(withPassword), withPassword.Redis.Addresses()[0]+" responds")
	withPassword.Redis.Username = "reader"
	wants(t, message(withPassword), "run a script: NOPERM", "; allow the user of REDIS_USERNAME to run scripts")
	withPassword.Redis.Username = "lacking"
	wants(t, message(withPassword), "run a script: ", "(HINCRBY); allow the user of REDIS_USERNAME to run scripts", "(+@scripting, +@hash, +@keyspace, +time, ~sluice:*)")
	withPassword.Redis.Username = "narrow" // as that says
	wants(t, message(withPassword), withPassword.Redis.Addresses()[0]+" responds")

	good.Redis.Port = 1
	wants(t, message(good), "connect: dial tcp", "; check that Redis runs")
}
