package config

import (
	"strings"
	"time"

	"sluice/internal/sealed"
)

// Requests bounds what clients send and says how their headers are read.
type Requests struct {
	// MaxJSONMB is the largest JSON body in MiB. A larger one is answered 413.
	MaxJSONMB int `env:"MAX_JSON_PAYLOAD_SIZE_IN_MB" envDefault:"64" range:"1..4096"`

	// MaxUploadMB is the largest body of any other kind in MiB, for example a
	// transcription with its audio file. A larger one is answered 413.
	MaxUploadMB int `env:"MAX_UPLOAD_SIZE_IN_MB" envDefault:"512" range:"1..65536"`

	// HeaderPrefixAliases are further header prefixes that are read exactly like
	// `x-gateway-` and mirrored in the responses, for example `x-acme-`, so that
	// clients of another gateway move over unchanged. Capital letters mean the same as
	// small ones.
	HeaderPrefixAliases []string `env:"HEADER_PREFIX_ALIASES" check:"header-prefix"`

	// HeadersToMetadata are request headers whose values are copied into the metadata
	// of the request, under their lower-case names, before limits, policies and logs see
	// it. `header:key` gives the value another key, for example
	// `x-openwebui-user-email:_user`, and keeps that header from the provider. What the
	// workspace, the API key or the metadata of the request says comes first; of two
	// headers with one key the first that is sent counts. Those that carry credentials
	// are refused.
	HeadersToMetadata []string `env:"HEADERS_TO_METADATA" check:"metadata-header"`

	// HeadersToIgnore are request headers that a pass-through call never carries
	// upstream, besides those of the gateway itself.
	HeadersToIgnore []string `env:"CUSTOM_HEADERS_TO_IGNORE" check:"header"`
}

// complete writes prefixes and names of headers in lower case, as they are compared.
func (r *Requests) complete() {
	for _, list := range [...][]string{r.HeaderPrefixAliases, r.HeadersToMetadata, r.HeadersToIgnore} {
		for i, name := range list {
			header, key, keyed := strings.Cut(name, ":") // the key of metadata keeps its case
			if list[i] = strings.ToLower(header); keyed {
				list[i] += ":" + key
			}
		}
	}
}

// MaxJSONBytes is the largest JSON body in bytes.
func (r Requests) MaxJSONBytes() int64 { return int64(r.MaxJSONMB) << 20 }

// MaxUploadBytes is the largest body of any other kind in bytes.
func (r Requests) MaxUploadBytes() int64 { return int64(r.MaxUploadMB) << 20 }

// Routing bounds the config documents that callers bring or save.
type Routing struct {
	// MaxRootTargets is the most targets at the top of a config.
	MaxRootTargets int `env:"MAX_ROOT_CONFIG_TARGETS" envDefault:"100" range:"1..10000"`

	// MaxConditionalTargets is the most targets at the top of a config whose strategy
	// is conditional.
	MaxConditionalTargets int `env:"MAX_CONDITIONAL_ROOT_CONFIG_TARGETS" envDefault:"1000" range:"1..10000"`

	// MaxNestedTargets is the most targets below one target of the top.
	MaxNestedTargets int `env:"MAX_NESTED_CONFIG_TARGETS" envDefault:"50" range:"1..10000"`
}

// Upstream bounds calls to providers and says how they leave the network.
type Upstream struct {
	// RequestTimeout is how long a provider may take until its answer begins, when
	// neither the request nor its config says. 0 means no limit.
	RequestTimeout time.Duration `env:"REQUEST_TIMEOUT" envDefault:"0" range:"0..86400000"`

	// ConnectTimeout is how long a connection to a provider may take, TLS included.
	ConnectTimeout time.Duration `env:"CONNECT_TIMEOUT" envDefault:"10000" range:"100..600000"`

	// StreamIdleTimeout is how long an answer that has begun may stay silent, a side of a
	// realtime conversation take nothing, or a provider nothing of an upload that is sent
	// on as it comes, before it counts as broken.
	StreamIdleTimeout time.Duration `env:"STREAM_IDLE_TIMEOUT" envDefault:"300000" range:"1000..86400000"`

	// ModelListPeriod is the age at which `GET /v1/models` has the model list of a saved
	// provider read again, in the background, where the catalog does not know its models: at
	// a custom host, for example a local server. 0 asks no provider for its list.
	ModelListPeriod time.Duration `env:"MODEL_LIST_PERIOD" envDefault:"60000" range:"0..86400000"`

	// AbandonedStreams is what becomes of a provider's stream when its caller leaves:
	// `cancel` ends it at once, and what it used is counted here as far as it came;
	// `drain` reads it on, so that what the provider counted is known, and pays for the
	// rest of the answer.
	AbandonedStreams string `env:"ABANDONED_STREAMS" envDefault:"cancel" oneof:"cancel,drain"`

	// AbandonedStreamsMax is how many streams are read on at once with
	// `ABANDONED_STREAMS=drain`. Further ones are cancelled.
	AbandonedStreamsMax int `env:"ABANDONED_STREAMS_MAX" envDefault:"64" range:"1..10000"`

	// AbandonedStreamTimeout is how long a stream is read on after its caller left before
	// it is cancelled.
	AbandonedStreamTimeout time.Duration `env:"ABANDONED_STREAM_TIMEOUT" envDefault:"60000" range:"100..600000"`

	// AbandonedStreamMB is how much of a stream is read on, in MiB, before it is cancelled.
	AbandonedStreamMB int `env:"ABANDONED_STREAM_MAX_SIZE_IN_MB" envDefault:"8" range:"1..1024"`

	// AbandonedAnswersMax is how many whole answers are read on at once whose callers left or
	// whose request timeout passed, so that the usage in them is known. Further ones are
	// cancelled and count at their maximum cost, and with 0 all are.
	AbandonedAnswersMax int `env:"ABANDONED_ANSWERS_MAX" envDefault:"256" range:"0..10000"`

	// AbandonedAnswerTimeout is how long a whole answer is read on after it was given up before
	// it is cancelled and counts at its maximum cost.
	AbandonedAnswerTimeout time.Duration `env:"ABANDONED_ANSWER_TIMEOUT" envDefault:"600000" range:"100..3600000"`

	// AbandonedAnswerMB is how much of a whole answer is read on, in MiB, before it is
	// cancelled and counts at its maximum cost.
	AbandonedAnswerMB int `env:"ABANDONED_ANSWER_MAX_SIZE_IN_MB" envDefault:"64" range:"1..1024"`

	// BackgroundResponsesMax is how many responses are followed at once that providers go on
	// working on after they answered (`"background": true`), to learn what they used. A
	// further one counts with the bound of its cost, and with 0 all do.
	BackgroundResponsesMax int `env:"BACKGROUND_RESPONSES_MAX" envDefault:"10000" range:"0..1000000"`

	// BackgroundResponseTimeout is how long one is followed. What has not ended by then
	// counts with the bound of its cost.
	BackgroundResponseTimeout time.Duration `env:"BACKGROUND_RESPONSE_TIMEOUT" envDefault:"86400000" range:"1000..604800000"`

	// HTTPProxy is the proxy for `http://` providers. A name and password in it are
	// kept secret.
	HTTPProxy sealed.String `env:"HTTP_PROXY" check:"proxy" also:"http_proxy"`

	// HTTPSProxy is the proxy for `https://` providers.
	HTTPSProxy sealed.String `env:"HTTPS_PROXY" check:"proxy" also:"https_proxy"`

	// NoProxy are hosts that are reached without a proxy: host names (with their
	// subdomains), IP addresses, CIDR ranges, or `*` for all.
	NoProxy []string `env:"NO_PROXY" check:"trusted-host" also:"no_proxy"`
}

// Cloud holds the identities that the gateway itself has with cloud providers.
// Credentials of single providers are saved with them, not here.
type Cloud struct {
	// AWSAccessKeyID is the access key with which AWS roles are assumed. Empty means
	// the identity of the machine.
	AWSAccessKeyID string `env:"AWS_ASSUME_ROLE_ACCESS_KEY_ID"`

	// AWSSecretAccessKey is the secret of `AWS_ASSUME_ROLE_ACCESS_KEY_ID`.
	AWSSecretAccessKey sealed.String `env:"AWS_ASSUME_ROLE_SECRET_ACCESS_KEY"`

	// AWSSourceRoleARN is the role that is assumed first, before the role of a
	// provider.
	AWSSourceRoleARN string `env:"AWS_ASSUME_ROLE_SOURCE_ARN" check:"role-arn"`

	// AWSSourceExternalID is the external id for `AWS_ASSUME_ROLE_SOURCE_ARN`.
	AWSSourceExternalID string `env:"AWS_ASSUME_ROLE_SOURCE_EXTERNAL_ID"`

	// AWSEndpointDomain is the domain of the AWS endpoints.
	AWSEndpointDomain string `env:"AWS_ENDPOINT_DOMAIN" envDefault:"amazonaws.com" check:"host"`

	// AzureAuthorityHost is the sign-in service for Azure workload identity.
	AzureAuthorityHost string `env:"AZURE_AUTHORITY_HOST" envDefault:"https://login.microsoftonline.com" check:"https-url"`

	// AzureTenantID is the tenant for Azure workload identity.
	AzureTenantID string `env:"AZURE_TENANT_ID"`

	// AzureClientID is the client for Azure workload identity when a provider names
	// none.
	AzureClientID string `env:"AZURE_CLIENT_ID"`

	// AzureFederatedTokenFile is the file that the platform keeps the workload's token
	// in. It is read anew whenever a token is needed.
	AzureFederatedTokenFile string `env:"AZURE_FEDERATED_TOKEN_FILE"`

	// GCPAuthMode is how the gateway is known to Google Cloud, for providers that are
	// saved with its identity (`vertex_auth_type` `workload` or `workload identity
	// federation`): `workload` by the metadata server of the machine, `federation` by an
	// exchange for `CLOUD_WIF_AUDIENCE`. `auto` is federation when that is set.
	GCPAuthMode string `env:"GCP_AUTH_MODE" envDefault:"auto" oneof:"auto,workload,federation"`

	// WIFAudience is the provider of a workload identity pool that the gateway's identity
	// is exchanged at, `//iam.googleapis.com/projects/…/providers/…`.
	WIFAudience string `env:"CLOUD_WIF_AUDIENCE" also:"GCP_WIF_AUDIENCE"`

	// WIFServiceAccount is the service account, by its e-mail address, that the exchanged
	// identity acts as. Empty means that it acts as itself.
	WIFServiceAccount string `env:"CLOUD_WIF_SERVICE_ACCOUNT_EMAIL" also:"GCP_WIF_SERVICE_ACCOUNT_EMAIL"`

	// WIFTokenFile is a file with the JWT of another platform that is exchanged. It is
	// read anew whenever a token is needed. Empty means the identity that the gateway has
	// at AWS: the one that assumes roles.
	WIFTokenFile string `env:"CLOUD_WIF_TOKEN_FILE"`
}
