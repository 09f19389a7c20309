package app

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"sluice/internal/cluster/redis"
	"sluice/internal/config"
	"sluice/internal/mail/smtp"
	"sluice/internal/provider"
	"sluice/internal/provider/netguard"
	"sluice/internal/provider/transport"
	"sluice/internal/store"
)

// Finding is what doctor found out about one subject.
type Finding struct {
	Subject string // "database"
	Detail  string // what is well
	Err     error  // what is not; nil when all is well
	Cure    string // what to do about it
}

// Says is the finding in one line.
func (f Finding) Says() string {
	if f.Err == nil {
		return f.Detail
	}
	return f.Err.Error() + "; " + f.Cure
}

// freeSpaceMin is the room on the data disk below which doctor complains: the
// journal reserves its files as a whole.
const freeSpaceMin = 1 << 30

// Doctor looks at everything that a gateway with these settings needs. It changes
// nothing but makes the data directory when it is missing. The settings themselves
// are well, or there would be none to look with.
func Doctor(ctx context.Context, s config.Settings, log *slog.Logger) []Finding {
	out := []Finding{{Subject: "settings", Detail: "every setting is usable"}}
	for _, look := range [...]func(context.Context, config.Settings, *slog.Logger) Finding{
		checkDisk, checkKey, checkDatabase, checkRedis, checkAnalytics, checkLogStore, checkTLS, checkListen, checkClock, checkUpstream, checkMail,
	} {
		out = append(out, look(ctx, s, log))
	}
	return out
}

func checkDisk(_ context.Context, s config.Settings, _ *slog.Logger) Finding {
	f := Finding{Subject: "disk", Cure: "set DATA_DIR to a directory that this user may write to, on a disk with room"}
	if f.Err = os.MkdirAll(s.Data.Dir, 0o700); f.Err != nil {
		return f
	}
	probe, err := os.CreateTemp(s.Data.Dir, "doctor-")
	if err != nil {
		f.Err = err
		return f
	}
	f.Err = errors.Join(probe.Close(), os.Remove(probe.Name()))
	var fs syscall.Statfs_t
	if err := syscall.Statfs(s.Data.Dir, &fs); err != nil {
		f.Err = err
		return f
	}
	free := int64(fs.Bavail) * int64(fs.Bsize)
	if free < freeSpaceMin {
		f.Err = fmt.Errorf("only %d MiB are free in %s", free>>20, s.Data.Dir)
	}
	f.Detail = fmt.Sprintf("%s can be written to, %d GiB are free", s.Data.Dir, free>>30)
	return f
}

func checkKey(_ context.Context, s config.Settings, _ *slog.Logger) Finding {
	f := Finding{Subject: "sealing", Cure: "set ENCRYPTION_KEY to at least 16 characters, or mend the key file in DATA_DIR"}
	if !s.Security.EncryptionKey.Empty() {
		f.Detail = "secrets are sealed under ENCRYPTION_KEY"
		return f
	}
	path := filepath.Join(s.Data.Dir, KeyFile)
	_, err := readKeyFile(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		f.Detail = "the key file will be made at the first start: " + path
	case err != nil:
		f.Err = err
	default:
		f.Detail = "secrets are sealed under the key file " + path + "; back it up apart from the database"
	}
	return f
}

func checkDatabase(ctx context.Context, s config.Settings, log *slog.Logger) Finding {
	f := Finding{Subject: "database", Cure: "check DB_TYPE, DB_HOST, DB_PORT, DB_USER, DB_PASS, DB_NAME and DB_SSL"}
	ctx, stop := context.WithTimeout(ctx, 15*time.Second)
	defer stop()
	db, err := store.Open(ctx, storeSettings(s), log)
	if err != nil {
		f.Err = err
		return f
	}
	h := db.Health()
	f.Err = db.Close()
	if h.Status != "ok" {
		f.Err = errors.Join(f.Err, fmt.Errorf("%s: %s", h.Status, h.Detail))
	}
	f.Detail = s.Database.Type + " answers"
	return f
}

// checkRedis asks Redis whether it can keep the limits of many nodes.
func checkRedis(ctx context.Context, s config.Settings, _ *slog.Logger) Finding {
	f := Finding{Subject: "redis", Cure: "check REDIS_URL or REDIS_HOST, REDIS_PORT, REDIS_MODE, REDIS_TLS_ENABLED, REDIS_USERNAME and REDIS_PASSWORD"}
	if !s.Redis.Enabled() {
		f.Detail = "not used: limits are counted by each node alone (CACHE_STORE)"
		return f
	}
	policy, err := redis.Check(ctx, redisServer(s.Redis))
	f.Err = err
	f.Detail = strings.Join(s.Redis.Addresses(), ", ") + " answers and runs scripts"
	if err == nil && policy != "" && policy != "noeviction" {
		f.Err = fmt.Errorf("it forgets counters when its memory is full (maxmemory-policy %s)", policy)
		f.Cure = "set maxmemory-policy noeviction in Redis: a counter that is forgotten lets more through than its limit"
	}
	return f
}

func checkTLS(_ context.Context, s config.Settings, _ *slog.Logger) Finding {
	f := Finding{Subject: "tls", Cure: "renew the certificate and set TLS_CERT and TLS_KEY, or their _PATH forms"}
	if s.TLS.Cert == "" {
		f.Detail = "the listener speaks plain HTTP; keep it on this machine or behind a proxy with TLS"
		return f
	}
	pair, err := s.TLS.Certificate()
	if err != nil {
		f.Err = err
		return f
	}
	leaf, err := x509.ParseCertificate(pair.Certificate[0])
	if err != nil {
		f.Err = err
		return f
	}
	if time.Now().After(leaf.NotAfter) {
		f.Err = fmt.Errorf("the certificate ended on %s", leaf.NotAfter.Format(time.DateOnly))
	}
	f.Detail = fmt.Sprintf("the certificate of %s is good until %s", leaf.Subject.CommonName, leaf.NotAfter.Format(time.DateOnly))
	return f
}

func checkListen(ctx context.Context, s config.Settings, _ *slog.Logger) Finding {
	f := Finding{Subject: "listener", Cure: "stop what listens there, or set LISTEN and PORT to a free address"}
	addr := s.Server.Address()
	if answers(ctx, s) {
		f.Detail = "a gateway already answers on " + addr
		return f
	}
	l, err := listen(ctx, addr)
	if err != nil {
		f.Err = err
		return f
	}
	f.Err = l.Close()
	f.Detail = addr + " is free"
	return f
}

// answers reports whether a gateway serves the health route already.
func answers(ctx context.Context, s config.Settings) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, HealthURL(s), http.NoBody)
	if err != nil {
		return false
	}
	resp, err := HealthClient(s).Do(req)
	if err != nil {
		return false
	}
	_ = resp.Body.Close() // only whether it answers matters
	return true
}

// clockMin is a time that has passed: a clock before it is wrong.
var clockMin = time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)

func checkClock(context.Context, config.Settings, *slog.Logger) Finding {
	f := Finding{Subject: "clock", Cure: "set the clock, for example with a time service: keys expire and limits reset by it"}
	now := time.Now().UTC()
	if now.Before(clockMin) {
		f.Err = fmt.Errorf("the clock says %s", now.Format(time.RFC3339))
	}
	f.Detail = "it is " + now.Format(time.RFC3339)
	return f
}

// checkUpstream looks whether providers can be reached at all: one well-known host
// through the same client, guard and proxy as real calls. No credential is sent.
func checkUpstream(ctx context.Context, s config.Settings, _ *slog.Logger) Finding {
	f := Finding{Subject: "upstream", Cure: "check DNS, the firewall, and HTTP_PROXY, HTTPS_PROXY and NO_PROXY"}
	specs, err := provider.Load()
	if err != nil {
		f.Err = err
		return f
	}
	spec, _ := specs.Find("openai")
	plan, err := spec.Plan(provider.Call{Endpoint: "listModels", Method: http.MethodGet, Path: "/models"}, provider.Values{provider.Key: "none"})
	if err != nil {
		f.Err = err
		return f
	}
	c := transport.New(transportOptions(s, netguard.New(s.Security.TrustedCustomHosts)))
	defer c.Close()
	resp, err := c.Do(ctx, &transport.Request{Method: http.MethodGet, Scheme: plan.Scheme, Host: plan.Host, Target: plan.Target, HeadTimeout: 15 * time.Second})
	if err != nil {
		f.Err = fmt.Errorf("%s: %w", plan.Host, err)
		return f
	}
	_ = resp.Body.Close() // only whether it answers matters
	f.Detail = fmt.Sprintf("%s answers (%d without a key)", plan.Host, resp.Status)
	return f
}

// checkMail logs in at the mail server. Nothing is sent.
func checkMail(ctx context.Context, s config.Settings, _ *slog.Logger) Finding {
	f := Finding{Subject: "mail"}
	if !s.Mail.Enabled {
		f.Detail = "no mail server is set up (SMTP_MAIL); mails wait in the outbox"
		return f
	}
	at := net.JoinHostPort(s.Mail.Host, strconv.Itoa(s.Mail.Port))
	sender, err := smtp.New(smtpSettings(s.Mail))
	if err == nil {
		err = sender.Try(ctx)
	}
	if err != nil {
		f.Err, f.Cure = fmt.Errorf("%s: %w", at, err), smtp.Cure(err)
		return f
	}
	f.Detail = at + " takes mails"
	if s.Mail.User != "" {
		f.Detail += " of " + s.Mail.User
	}
	return f
}
