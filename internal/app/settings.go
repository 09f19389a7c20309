package app

import (
	"context"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/net/http/httpproxy"

	"sluice/internal/config"
	"sluice/internal/dataplane"
	"sluice/internal/fault"
	"sluice/internal/gateway/disconnect"
	"sluice/internal/gateway/intake"
	"sluice/internal/ops/hint"
	"sluice/internal/provider/netguard"
	"sluice/internal/provider/sign"
	"sluice/internal/provider/transport"
	"sluice/internal/routing"
	"sluice/internal/store"
	"sluice/internal/tenant"
)

// The functions in this file convert the settings to the options of other packages.

func storeSettings(s config.Settings) store.Settings {
	d := s.Database
	return store.Settings{
		Engine: d.Type, Path: filepath.Join(s.Data.Dir, "sluice.db"), PoolSize: d.PoolSize, HADR: d.HADR,
		Writer: store.Endpoint{Host: d.Host, Port: d.Port, User: d.User, Pass: d.Pass, Name: d.Name},
		Reader: store.Endpoint{Host: d.ReaderHost, Port: d.ReaderPort, User: d.ReaderUser, Pass: d.ReaderPass},
		TLS:    store.TLS{Mode: d.SSL, CA: d.SSLCA, Cert: d.SSLCert, Key: d.SSLKey},
	}
}

// migrate updates the tables. If the writer is down in HADR mode the start continues: reads work,
// health reports it, and migrateLater migrates later.
func (a *App) migrate(ctx context.Context) error {
	err := a.store.Migrate(ctx)
	if err != nil && a.set.Database.HADR && fault.Has(err, fault.ReadOnly) {
		a.log.Warn("database writer unavailable; skipped the schema check", "error", err.Error())
		a.services.Add("late migration", a.migrateLater)
		return nil
	}
	if err == nil {
		err = a.store.CheckRights(ctx)
	}
	if err != nil {
		return hint.WithDatabase(storeSettings(a.set), err)
	}
	return nil
}

// migrateLater migrates when the writer is available again.
func (a *App) migrateLater(ctx context.Context) error {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for done := false; ; {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if done || !a.store.Health().Writer {
			continue
		}
		if err := a.store.Migrate(ctx); err != nil {
			a.log.Warn("cannot check the schema; retrying", "error", err.Error())
			continue
		}
		done = true
	}
}

func configLimits(s config.Settings) routing.Limits {
	return routing.Limits{RootTargets: s.Routing.MaxRootTargets, ConditionalTargets: s.Routing.MaxConditionalTargets, NestedTargets: s.Routing.MaxNestedTargets}
}

func transportOptions(s config.Settings, guard *netguard.Guard) transport.Options {
	o := transport.Options{Guard: guard, ConnectTimeout: s.Upstream.ConnectTimeout}
	o.Proxy = proxyOf(s)
	return o
}

// proxyOf returns a function that chooses the proxy for an address; nil if no proxy is
// configured.
func proxyOf(s config.Settings) func(*url.URL) (*url.URL, error) {
	p := httpproxy.Config{HTTPProxy: s.Upstream.HTTPProxy.Reveal(), HTTPSProxy: s.Upstream.HTTPSProxy.Reveal(), NoProxy: strings.Join(s.Upstream.NoProxy, ",")}
	if p.HTTPProxy == "" && p.HTTPSProxy == "" {
		return nil
	}
	return p.ProxyFunc()
}

func signOptions(s config.Settings, filteredClient *http.Client) sign.Options {
	c := s.Cloud
	mode := c.GCPAuthMode
	if mode == "auto" {
		mode = ""
	}
	return sign.Options{
		Outside: filteredClient,
		AWS: sign.AWS{
			AccessKeyID: c.AWSAccessKeyID, SecretAccessKey: c.AWSSecretAccessKey, SourceARN: c.AWSSourceRoleARN,
			SourceExternalID: c.AWSSourceExternalID, EndpointDomain: c.AWSEndpointDomain,
		},
		Azure: sign.Azure{
			AuthorityHost: c.AzureAuthorityHost, TenantID: c.AzureTenantID, ClientID: c.AzureClientID, FederatedTokenFile: c.AzureFederatedTokenFile,
		},
		GCP: sign.GCP{Mode: mode, Audience: c.WIFAudience, ServiceAccount: c.WIFServiceAccount, TokenFile: c.WIFTokenFile},
	}
}

// abandoned returns the settings of streams whose clients disconnect.
func abandoned(u *config.Upstream) disconnect.Limits {
	if u.AbandonedStreams != "drain" {
		return disconnect.Limits{}
	}
	return disconnect.Limits{Max: u.AbandonedStreamsMax, Bytes: int64(u.AbandonedStreamMB) << 20, Time: u.AbandonedStreamTimeout}
}

// metadataHeaders reads the items of HEADERS_TO_METADATA: "x-team", "x-user-email:_user".
func metadataHeaders(list []string) intake.MetadataHeaders {
	out := make(intake.MetadataHeaders, len(list))
	for i, item := range list {
		name, key, keyed := strings.Cut(item, ":")
		name = strings.ToLower(name)
		if !keyed {
			key = name
		}
		out[i] = intake.MetadataHeader{Header: name, Key: key, Private: keyed}
	}
	return out
}

func (a *App) gatewaySettings() dataplane.Settings {
	s, d := a.set, dataplane.DefaultSettings()
	d.SpoolDir = filepath.Join(s.Data.Dir, "spool")
	d.MaxJSONBytes = s.Requests.MaxJSONBytes()
	d.MaxUploadBytes = s.Requests.MaxUploadBytes()
	d.BodyLogBytes = s.Logs.BodyMaxBytes()
	d.HeadTimeout = s.Upstream.RequestTimeout
	d.IdleTimeout = s.Upstream.StreamIdleTimeout
	d.Abandoned = abandoned(&s.Upstream)
	d.AbandonedAnswers = disconnect.Limits{Max: s.Upstream.AbandonedAnswersMax, Bytes: int64(s.Upstream.AbandonedResponseMB) << 20, Time: s.Upstream.AbandonedResponseTimeout}
	d.Background.Responses, d.Background.Time = s.Upstream.BackgroundResponsesMax, s.Upstream.BackgroundResponseTimeout
	d.ModelLists.Period = s.Upstream.ModelListPeriod
	d.HeaderAliases = s.Requests.HeaderPrefixAliases
	d.IgnoreHeaders = s.Requests.HeadersToIgnore
	d.MetadataFrom = metadataHeaders(s.Requests.HeadersToMetadata)
	d.TraceContext = s.OpenTelemetry.ToProviders
	d.AllowUnpriced = s.Models.Unpriced == "allow"
	d.BlockInline = s.Security.BlockInlineConfig
	d.GuardrailsOff = !s.Features.Guardrails
	d.ConfigLimits = configLimits(s)
	d.UserAgent = "sluice/" + a.version
	d.TrustedProxies = a.proxies
	return d
}

// deploymentRetention returns the retention of the settings.
func deploymentRetention(l config.Logs) tenant.Retention {
	days := func(n int) *int { return &n }
	r := tenant.Retention{Bodies: days(l.RetentionDays), Rows: days(l.MetricsRetentionDays), Metrics: days(l.MetricsRetentionDays)}
	if l.RowsRetentionDays > 0 {
		r.Rows = days(l.RowsRetentionDays)
	}
	return r
}
