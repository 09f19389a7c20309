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
	at := func(s *redistest.Server) config.Settings {
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
	says := func(set config.Settings) string { return checkRedis(t.Context(), set, discard).Message() }
	open := redistest.Start(t)
	good := at(open)
	wants(t, says(good), good.Redis.Addresses()[0]+" answers")

	replica := redistest.Start(t, "--replicaof", "127.0.0.1", strconv.Itoa(good.Redis.Port))
	wants(t, says(at(replica)), "run a script: ", "READONLY", "; this is a replica")

	guarded := at(redistest.Start(t,
		"--user", "default", "on", ">secret", "~sluice:*", "+@all", "--user", "reader", "on", ">secret", "~*", "+@read", "+@connection",
		"--user", "lacking", "on", ">secret", "~sluice:*", "+@all", "-hincrby", "--user", "narrow", "on", ">secret", "~sluice:*", "+@scripting", "+@hash", "+@keyspace", "+time"))
	wants(t, says(guarded), "connect: NOAUTH", "; check REDIS_USERNAME and REDIS_PASSWORD")
	guarded.Redis.Password = sealed.New("wrong")
	wants(t, says(guarded), "connect: WRONGPASS", "; check REDIS_USERNAME and REDIS_PASSWORD")
	guarded.Redis.Password = sealed.New("secret")
	wants(t, says(guarded), guarded.Redis.Addresses()[0]+" answers")
	guarded.Redis.Username = "reader"
	wants(t, says(guarded), "run a script: NOPERM", "; let the user of REDIS_USERNAME run scripts")
	guarded.Redis.Username = "lacking"
	wants(t, says(guarded), "run a script: ", "(HINCRBY); let the user of REDIS_USERNAME run scripts", "(+@scripting, +@hash, +@keyspace, +time, ~sluice:*)")
	guarded.Redis.Username = "narrow" // as that says
	wants(t, says(guarded), guarded.Redis.Addresses()[0]+" answers")

	good.Redis.Port = 1
	wants(t, says(good), "connect: dial tcp", "; see that Redis runs")
}
