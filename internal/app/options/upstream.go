package options

import (
	"log/slog"
	"net/http"
	"net/url"
	"strings"

	"golang.org/x/net/http/httpproxy"

	"sluice/internal/kernel/ident"
	"sluice/internal/ops/config"
	"sluice/internal/provider/netguard"
	"sluice/internal/provider/secretmanager"
	"sluice/internal/provider/sign"
	"sluice/internal/provider/transport"
)

// Transport returns the options of the client for upstream services.
func Transport(s config.Settings, guard *netguard.Guard) transport.Options {
	o := transport.Options{Guard: guard, ConnectTimeout: s.Upstream.ConnectTimeout}
	o.Proxy = proxy(s)
	return o
}

// proxy returns a function that chooses the proxy for an address; nil if no proxy is
// configured.
func proxy(s config.Settings) func(*url.URL) (*url.URL, error) {
	p := httpproxy.Config{HTTPProxy: s.Upstream.HTTPProxy.Reveal(), HTTPSProxy: s.Upstream.HTTPSProxy.Reveal(), NoProxy: strings.Join(s.Upstream.NoProxy, ",")}
	if p.HTTPProxy == "" && p.HTTPSProxy == "" {
		return nil
	}
	return p.ProxyFunc()
}

// Sign returns the options of the signers. filteredClient does not connect to private
// addresses; it may be nil.
func Sign(s config.Settings, filteredClient *http.Client) sign.Options {
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

// SecretManagers returns the options of the reader of external secret managers. filteredClient
// does not connect to private addresses.
func SecretManagers(s config.Settings, filteredClient *http.Client, guard *netguard.Guard, signers *sign.Set, clock ident.Clock, log *slog.Logger) secretmanager.Options {
	return secretmanager.Options{
		HTTP: filteredClient, Signers: signers, AWSDomain: s.Cloud.AWSEndpointDomain, FederatedTokens: s.Cloud.AzureFederatedTokenFile != "",
		TakesStoredKeys: guard.TakesStoredKeys, Clock: clock, Log: log,
	}
}
