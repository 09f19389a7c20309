package options

import (
	"path/filepath"
	"strings"

	"sluice/internal/gateway"
	"sluice/internal/gateway/disconnect"
	"sluice/internal/gateway/intake"
	"sluice/internal/kernel/wire"
	"sluice/internal/ops/config"
)

// Gateway returns the settings of the data plane of this version ("1.0.0"). proxies are the parsed
// TRUSTED_PROXIES.
func Gateway(s config.Settings, version string, proxies wire.Proxies) gateway.Settings {
	d := gateway.DefaultSettings()
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
	d.ConfigLimits = ConfigLimits(s)
	d.UserAgent = "sluice/" + version
	d.TrustedProxies = proxies
	return d
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
