package config

import (
	"strings"
	"time"

	"sluice/internal/kernel/sealed"
)

// Requests limits the bodies that clients send, and sets how their headers are read.
type Requests struct {
	// MaxJSONMB is the maximum size of a JSON body, in MiB. A larger body is rejected with
	// 413.
	MaxJSONMB int `env:"MAX_JSON_PAYLOAD_SIZE_IN_MB" envDefault:"64" range:"1..4096"`

	// MaxUploadMB is the maximum size of any other body, in MiB, for example a
	// transcription with its audio file. A larger body is rejected with 413.
	MaxUploadMB int `env:"MAX_UPLOAD_SIZE_IN_MB" envDefault:"512" range:"1..65536"`

	// HeaderPrefixAliases are additional header prefixes that work exactly like
	// `x-gateway-`, for example `x-acme-`. Responses contain the headers with these
	// prefixes too, so you can move clients from another gateway without changing them.
	// Case is ignored.
	HeaderPrefixAliases []string `env:"HEADER_PREFIX_ALIASES" check:"header-prefix"`

	// HeadersToMetadata are request headers that the gateway copies into the metadata of
	// the request before it applies limits, policies and logging. The metadata key is the
	// header name in lower case. `header:key` sets another key, for example
	// `x-openwebui-user-email:_user`; the gateway does not forward or log such a header.
	// Metadata of the workspace, the API key and the request takes precedence. If several
	// headers have the same key, the first one in the request counts. Headers that contain
	// credentials are not allowed.
	HeadersToMetadata []string `env:"HEADERS_TO_METADATA" check:"metadata-header"`

	// HeadersToIgnore are request headers that pass-through calls do not forward to the
	// provider, in addition to the headers of the gateway itself.
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

// Routing limits the configs that callers send or save.
type Routing struct {
	// MaxRootTargets is the maximum number of targets at the root of a config.
	MaxRootTargets int `env:"MAX_ROOT_CONFIG_TARGETS" envDefault:"100" range:"1..10000"`

	// MaxConditionalTargets is the maximum number of targets at the root of a config with
	// the conditional strategy.
	MaxConditionalTargets int `env:"MAX_CONDITIONAL_ROOT_CONFIG_TARGETS" envDefault:"1000" range:"1..10000"`

	// MaxNestedTargets is the maximum number of targets below each target at the root.
	MaxNestedTargets int `env:"MAX_NESTED_CONFIG_TARGETS" envDefault:"50" range:"1..10000"`
}

// Upstream sets timeouts, limits and proxies for calls to providers.
type Upstream struct {
	// RequestTimeout is how long a provider can take until its response begins, if neither
	// the request nor its config sets a limit. 0 disables the limit.
	RequestTimeout time.Duration `env:"REQUEST_TIMEOUT" envDefault:"0" range:"0..86400000"`

	// ConnectTimeout is the time limit for connecting to a provider, TLS included.
	ConnectTimeout time.Duration `env:"CONNECT_TIMEOUT" envDefault:"10000" range:"100..600000"`

	// StreamIdleTimeout is how long a transfer can stall before it counts as broken. It
	// applies to responses that have begun and to streamed uploads that the provider does
	// not read. In a realtime conversation it applies to a side that does not read.
	StreamIdleTimeout time.Duration `env:"STREAM_IDLE_TIMEOUT" envDefault:"300000" range:"1000..86400000"`

	// ModelListPeriod is the age at which `GET /v1/models` reads the model list of a saved
	// provider again, in the background. It applies to providers whose models are not in
	// the catalog, because they have a custom host such as a local server. 0 disables
	// reading lists from providers.
	ModelListPeriod time.Duration `env:"MODEL_LIST_PERIOD" envDefault:"60000" range:"0..86400000"`

	// AbandonedStreams decides what happens to a provider's stream when its client
	// disconnects. `cancel` ends the stream at once, and the gateway counts the usage so
	// far. `drain` reads the stream until the provider reports its usage, and you pay for
	// the rest of the output.
	AbandonedStreams string `env:"ABANDONED_STREAMS" envDefault:"cancel" oneof:"cancel,drain"`

	// AbandonedStreamsMax is the maximum number of abandoned streams that the gateway reads
	// at once with `ABANDONED_STREAMS=drain`. Further streams are cancelled.
	AbandonedStreamsMax int `env:"ABANDONED_STREAMS_MAX" envDefault:"64" range:"1..10000"`

	// AbandonedStreamTimeout is how long the gateway reads an abandoned stream after its
	// client disconnected. Then it cancels the stream.
	AbandonedStreamTimeout time.Duration `env:"ABANDONED_STREAM_TIMEOUT" envDefault:"60000" range:"100..600000"`

	// AbandonedStreamMB is how much of an abandoned stream the gateway reads, in MiB. Then
	// it cancels the stream.
	AbandonedStreamMB int `env:"ABANDONED_STREAM_MAX_SIZE_IN_MB" envDefault:"8" range:"1..1024"`

	// AbandonedAnswersMax is the maximum number of abandoned non-streaming responses that
	// the gateway reads at once, to find the usage in them. A response is abandoned when
	// its client disconnects or its request timeout is reached. Further responses are
	// cancelled and count at their maximum cost. With 0 this applies to all of them.
	AbandonedAnswersMax int `env:"ABANDONED_ANSWERS_MAX" envDefault:"256" range:"0..10000"`

	// AbandonedResponseTimeout is how long the gateway reads an abandoned non-streaming
	// response. Then the response is cancelled and counts at its maximum cost.
	AbandonedResponseTimeout time.Duration `env:"ABANDONED_ANSWER_TIMEOUT" envDefault:"600000" range:"100..3600000"`

	// AbandonedResponseMB is how much of an abandoned non-streaming response the gateway
	// reads, in MiB. Then the response is cancelled and counts at its maximum cost.
	AbandonedResponseMB int `env:"ABANDONED_ANSWER_MAX_SIZE_IN_MB" envDefault:"64" range:"1..1024"`

	// BackgroundResponsesMax is the maximum number of background responses (`"background":
	// true`) that the gateway polls at once to find their usage. Further responses count at
	// their maximum cost. With 0 this applies to all of them.
	BackgroundResponsesMax int `env:"BACKGROUND_RESPONSES_MAX" envDefault:"10000" range:"0..1000000"`

	// BackgroundResponseTimeout is how long the gateway polls a background response. A
	// response that has not ended by then counts at its maximum cost.
	BackgroundResponseTimeout time.Duration `env:"BACKGROUND_RESPONSE_TIMEOUT" envDefault:"86400000" range:"1000..604800000"`

	// BatchRetentionDays is the number of days after which files and batches that the gateway
	// manages itself (`x-gateway-provider: gateway`) are deleted.
	BatchRetentionDays int `env:"BATCH_RETENTION_DAYS" envDefault:"30" range:"1..3650"`

	// HTTPProxy is the proxy for providers with an `http://` address. A user name and
	// password in it are never shown.
	HTTPProxy sealed.String `env:"HTTP_PROXY" check:"proxy" also:"http_proxy"`

	// HTTPSProxy is the proxy for providers with an `https://` address. A user name and
	// password in it are never shown.
	HTTPSProxy sealed.String `env:"HTTPS_PROXY" check:"proxy" also:"https_proxy"`

	// NoProxy are hosts that the gateway calls without a proxy: host names, which include
	// their subdomains, IP addresses, CIDR ranges, or `*` for all.
	NoProxy []string `env:"NO_PROXY" check:"trusted-host" also:"no_proxy"`
}

// Cloud sets the gateway's own identities at cloud providers. Credentials of single
// providers are saved with those providers, not here.
type Cloud struct {
	// AWSAccessKeyID is the access key with which the gateway assumes AWS roles. If it is
	// empty, the gateway uses the identity of the machine.
	AWSAccessKeyID string `env:"AWS_ASSUME_ROLE_ACCESS_KEY_ID"`

	// AWSSecretAccessKey is the secret of `AWS_ASSUME_ROLE_ACCESS_KEY_ID`.
	AWSSecretAccessKey sealed.String `env:"AWS_ASSUME_ROLE_SECRET_ACCESS_KEY"`

	// AWSSourceRoleARN is a role that the gateway assumes before it assumes the role of a
	// provider.
	AWSSourceRoleARN string `env:"AWS_ASSUME_ROLE_SOURCE_ARN" check:"role-arn"`

	// AWSSourceExternalID is the external id for `AWS_ASSUME_ROLE_SOURCE_ARN`.
	AWSSourceExternalID string `env:"AWS_ASSUME_ROLE_SOURCE_EXTERNAL_ID"`

	// AWSEndpointDomain is the domain of AWS endpoints.
	AWSEndpointDomain string `env:"AWS_ENDPOINT_DOMAIN" envDefault:"amazonaws.com" check:"host"`

	// AzureAuthorityHost is the sign-in service for Azure workload identity.
	AzureAuthorityHost string `env:"AZURE_AUTHORITY_HOST" envDefault:"https://login.microsoftonline.com" check:"https-url"`

	// AzureTenantID is the tenant id for Azure workload identity.
	AzureTenantID string `env:"AZURE_TENANT_ID"`

	// AzureClientID is the client id for Azure workload identity, if a provider does not
	// set one.
	AzureClientID string `env:"AZURE_CLIENT_ID"`

	// AzureFederatedTokenFile is the file in which the platform stores the token of the
	// workload. The gateway reads it again whenever it needs a token.
	AzureFederatedTokenFile string `env:"AZURE_FEDERATED_TOKEN_FILE"`

	// GCPAuthMode sets how the gateway authenticates to Google Cloud, for providers that
	// are saved with its identity (`vertex_auth_type` `workload` or `workload identity
	// federation`). `workload` uses the metadata server of the machine. `federation`
	// exchanges another identity at `CLOUD_WIF_AUDIENCE`. `auto` means `federation` if that
	// setting is not empty, and `workload` otherwise.
	GCPAuthMode string `env:"GCP_AUTH_MODE" envDefault:"auto" oneof:"auto,workload,federation"`

	// WIFAudience is the provider of a workload identity pool that exchanges the gateway's
	// identity, `//iam.googleapis.com/projects/…/providers/…`.
	WIFAudience string `env:"CLOUD_WIF_AUDIENCE" also:"GCP_WIF_AUDIENCE"`

	// WIFServiceAccount is the email address of the service account that the exchanged
	// identity impersonates. If it is empty, the identity itself is used.
	WIFServiceAccount string `env:"CLOUD_WIF_SERVICE_ACCOUNT_EMAIL" also:"GCP_WIF_SERVICE_ACCOUNT_EMAIL"`

	// WIFTokenFile is a file with the JWT of another platform to exchange. The gateway
	// reads it again whenever it needs a token. If it is empty, the gateway exchanges its
	// AWS identity, the one that assumes roles.
	WIFTokenFile string `env:"CLOUD_WIF_TOKEN_FILE"`
}
