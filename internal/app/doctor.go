package app

import (
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"sluice/internal/config"
	"sluice/internal/mail/smtp"
)

// Finding is the result of one check of doctor.
type Finding struct {
	Subject string // "database"
	Detail  string // what works
	Err     error  // what fails; nil if all is well
	Hint    string // what to do about it
	Warning bool   // nothing that is in use fails because of it
}

// Message returns the finding as one line, without passwords in addresses.
func (f Finding) Message() string {
	if f.Err == nil {
		return f.Detail
	}
	text := f.Err.Error()
	if f.Hint != "" {
		text += "; " + f.Hint
	}
	return config.WithoutLogin(strings.Join(strings.Fields(text), " ")) // drivers report each attempt on a separate line
}

// freeSpaceMin is the free disk space of the data directory, in bytes, below which doctor warns:
// the journal preallocates its files.
const freeSpaceMin = 1 << 30

// check is one check of doctor, with the prefixes of the settings that it depends on.
type check struct {
	subject         string
	settingPrefixes []string
	run             func(context.Context, config.Settings, *slog.Logger) []Finding
}

func single(check func(context.Context, config.Settings, *slog.Logger) Finding) func(context.Context, config.Settings, *slog.Logger) []Finding {
	return func(ctx context.Context, s config.Settings, log *slog.Logger) []Finding {
		return []Finding{check(ctx, s, log)}
	}
}

// Doctor checks everything that a gateway with these settings needs. It changes nothing, except
// that it creates a missing data directory. broken are the invalid settings, for which s contains
// defaults. Checks that depend on a broken setting are skipped, because a default is not what the
// operator configured.
func Doctor(ctx context.Context, s config.Settings, broken []config.Problem, log *slog.Logger) (out []Finding) {
	if len(broken) == 0 {
		out = append(out, Finding{Subject: "settings", Detail: "all settings are valid"})
	}
	for _, p := range broken {
		out = append(out, Finding{Subject: "settings", Err: errors.New(p.String())})
	}
	saved := &stored{}
	defer func() { _ = saved.Close() }() // it was only read
	for _, l := range [...]check{
		{"disk", []string{"DATA_DIR"}, single(checkDisk)},
		{"database", []string{"DB_", "DATA_DIR"}, single(saved.checkDatabase)},
		{"sealing", []string{"ENCRYPTION_KEY", "DATA_DIR"}, single(saved.checkSealing)},
		{"redis", []string{"REDIS_", "CACHE_STORE"}, single(checkRedis)},
		{"analytics store", []string{"ANALYTICS_"}, single(checkAnalytics)},
		{"log store", []string{"LOG_STORE", "AWS_", "GCP_", "CLOUD_", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"}, single(checkLogStore)},
		{"tls", []string{"TLS_"}, single(checkTLS)},
		{"listener", []string{"LISTEN", "PORT", "TLS_"}, single(checkListen)},
		{"clock", []string{"DATA_DIR"}, single(saved.checkClock)},
		{"upstream", []string{"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "TRUSTED_CUSTOM_HOSTS", "CONNECT_TIMEOUT"}, saved.checkUpstreams},
		{"mail", []string{"SMTP_"}, single(checkMail)},
		{"collector", []string{"OTEL_", "EXPERIMENTAL_GEN_AI_OTEL_"}, checkCollectors},
	} {
		if name := l.brokenSetting(broken); name != "" {
			out = append(out, Finding{Subject: l.subject, Err: fmt.Errorf("skipped, because %s is not valid", name), Warning: true})
			continue
		}
		out = append(out, l.run(ctx, s, log)...)
	}
	return out
}

// brokenSetting returns the first broken setting that a check depends on; empty if there is none.
func (l check) brokenSetting(broken []config.Problem) string {
	for _, p := range broken {
		for _, start := range l.settingPrefixes {
			if strings.HasPrefix(strings.ToUpper(p.Setting), start) {
				return p.Setting
			}
		}
	}
	return ""
}

func checkDisk(_ context.Context, s config.Settings, _ *slog.Logger) Finding {
	f := Finding{Subject: "disk", Hint: dataDirHint}
	if f.Err = os.MkdirAll(s.Data.Dir, 0o700); f.Err != nil {
		return f
	}
	probe, err := os.CreateTemp(s.Data.Dir, "doctor-")
	if err != nil {
		f.Err = err
		return f
	}
	if err := errors.Join(probe.Close(), os.Remove(probe.Name())); err != nil {
		f.Err = err
		return f
	}
	if err := usableData(s.Data.Dir); err != nil {
		f.Err, f.Hint = err, ""
		return f
	}
	var fs syscall.Statfs_t
	if err := syscall.Statfs(s.Data.Dir, &fs); err != nil {
		f.Err = err
		return f
	}
	free := int64(fs.Bavail) * int64(fs.Bsize)
	if free < freeSpaceMin {
		f.Err = fmt.Errorf("only %d MiB are free in %s", free>>20, s.Data.Dir)
	}
	f.Detail = fmt.Sprintf("%s is writable, %d GiB are free", s.Data.Dir, free>>30)
	return f
}

func checkTLS(_ context.Context, s config.Settings, _ *slog.Logger) Finding {
	f := Finding{Subject: "tls", Hint: "renew the certificate and set TLS_CERT and TLS_KEY, or TLS_CERT_PATH and TLS_KEY_PATH"}
	if s.TLS.Cert == "" {
		f.Detail = "the listener uses plain HTTP; use it only on this machine or behind a proxy with TLS"
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
	name, from, until := certified(leaf), leaf.NotBefore.Format(time.DateOnly), leaf.NotAfter.Format(time.DateOnly)
	switch now := time.Now(); {
	case now.After(leaf.NotAfter):
		f.Err = fmt.Errorf("the certificate of %s expired on %s", name, until)
	case now.Before(leaf.NotBefore):
		f.Err = fmt.Errorf("the certificate of %s is not valid until %s", name, from)
		f.Hint = "set the clock if it is wrong, wait until the certificate is valid, or " + f.Hint
	case now.Add(renewalTime).After(leaf.NotAfter):
		f.Err, f.Warning = fmt.Errorf("the certificate of %s expires on %s", name, until), true
	}
	f.Detail = fmt.Sprintf("the certificate of %s is valid until %s", name, until)
	return f
}

// renewalTime is the time before its expiry at which a certificate should be renewed.
const renewalTime = 7 * 24 * time.Hour

// certified returns the names that a certificate is for. The name of its subject seldom contains
// them today.
func certified(leaf *x509.Certificate) string {
	names := slices.Clone(leaf.DNSNames)
	for _, ip := range leaf.IPAddresses {
		names = append(names, ip.String())
	}
	if len(names) == 0 {
		return cmp.Or(leaf.Subject.CommonName, "an unnamed subject")
	}
	return strings.Join(names, ", ")
}

func checkListen(ctx context.Context, s config.Settings, _ *slog.Logger) Finding {
	f := Finding{Subject: "listener"}
	addr := s.Server.Address()
	if _, err := Health(ctx, s); err == nil {
		f.Detail = "a gateway already responds on " + addr
		return f
	}
	l, err := listen(ctx, addr)
	if err != nil {
		f.Err = listenError(err)
		return f
	}
	f.Err = l.Close()
	f.Detail = addr + " is free"
	return f
}

// checkMail logs in to the mail server. It sends nothing.
func checkMail(ctx context.Context, s config.Settings, _ *slog.Logger) Finding {
	f := Finding{Subject: "mail"}
	if !s.Mail.Enabled {
		f.Detail = "SMTP_MAIL is off; emails stay in the outbox"
		return f
	}
	at := net.JoinHostPort(s.Mail.Host, strconv.Itoa(s.Mail.Port))
	sender, err := smtp.New(smtpSettings(s.Mail))
	if err == nil {
		err = sender.Try(ctx)
	}
	if err != nil {
		f.Err, f.Hint = fmt.Errorf("%s: %w", at, err), smtp.Hint(err)
		return f
	}
	f.Detail = at + " accepts emails"
	if s.Mail.User != "" {
		f.Detail += " of " + s.Mail.User
	}
	return f
}
