package config_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sluice/internal/ops/config"
)

func TestRedis(t *testing.T) {
	t.Parallel()
	cert, _ := keyPair(t)
	for _, c := range []struct {
		name     string
		environ  []string
		store    string
		list     []string
		user     string
		password string
		database int
		tls      bool
	}{
		{name: "none", store: "memory"},
		{name: "a host", environ: []string{"REDIS_HOST=redis.internal", "REDIS_USERNAME=gw", "REDIS_PASSWORD=s3cret"},
			store: "redis", list: []string{"redis.internal:6379"}, user: "gw", password: "s3cret"},
		{name: "a host that is not used", environ: []string{"REDIS_HOST=redis.internal", "CACHE_STORE=memory"}, store: "memory", list: []string{"redis.internal:6379"}},
		{name: "an address", environ: []string{"REDIS_URL=rediss://gw:p%40ss@redis.internal/2", "REDIS_HOST=other", "REDIS_PORT=6380"},
			store: "redis", list: []string{"redis.internal:6380"}, user: "gw", password: "p@ss", database: 2, tls: true},
		{name: "an address with a password beside", environ: []string{"REDIS_URL=redis://[::1]:7000", "REDIS_PASSWORD=s3cret", "REDIS_TLS_ENABLED=on", "REDIS_TLS_CA=" + cert},
			store: "redis", list: []string{"[::1]:7000"}, password: "s3cret", tls: true},
		{name: "a cluster", environ: []string{"REDIS_MODE=cluster", "REDIS_CLUSTER_ENDPOINTS=a:1,b:2"}, store: "redis", list: []string{"a:1", "b:2"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			l, err := config.Load(config.Sources{Environ: c.environ})
			require.NoError(t, err)
			r := l.Settings.Redis
			user, password := r.Login()
			assert.Equal(t, c.store, r.Store)
			assert.Equal(t, c.list, r.Addresses())
			assert.Equal(t, []any{c.user, c.password, c.database, c.tls}, []any{user, password.Reveal(), r.Database(), r.TLSConfig() != nil})
		})
	}
	for _, bad := range [][]string{
		{"CACHE_STORE=redis"}, {"REDIS_URL=http://redis:6379"}, {"REDIS_URL=redis://redis/x"}, {"REDIS_URL=redis://redis?skip_verify=1"},
		{"REDIS_URL=redis://redis/1", "REDIS_MODE=cluster"}, {"REDIS_CLUSTER_ENDPOINTS=redis"}, {"REDIS_HOST=r", "LIMITS_WITHOUT_REDIS=allow"},
	} {
		_, err := config.Load(config.Sources{Environ: bad})
		assert.Error(t, err, bad)
	}
}
