package config

import (
	"crypto/x509"
	"time"

	"sluice/internal/sealed"
)

// Where the bodies of the request log are kept.
const (
	LocalLogStore  = "local"
	S3LogStore     = "s3"
	GoogleLogStore = "gcs"
)

// LogStore says where request and response bodies are kept. See docs/logs.md.
type LogStore struct {
	// Store is where bodies are: `local`, in files under `DATA_DIR`; `s3`, in a bucket of
	// Amazon S3 or of a store that speaks as it does; `gcs`, in one of Google Cloud Storage
	// with the gateway's own identity there (`GCP_AUTH_MODE`, `CLOUD_WIF_AUDIENCE`). Nodes
	// that share a bucket read the bodies of each other.
	Store string `env:"LOG_STORE" envDefault:"local" oneof:"local,s3,gcs"`

	// Bucket is the bucket. It must be there.
	Bucket string `env:"LOG_STORE_BUCKET" check:"bucket" also:"LOG_STORE_GENERATIONS_BUCKET"`

	// Prefix is what the keys of all objects begin with, for example `gateway/`.
	Prefix string `env:"LOG_STORE_PREFIX" check:"stored-path"`

	// Region is the region of the bucket.
	Region string `env:"LOG_STORE_REGION" envDefault:"us-east-1"`

	// Endpoint is the address of a store other than that of AWS or Google, for example
	// `https://minio.internal:9000`. It is the operator's own and may be private.
	Endpoint string `env:"LOG_STORE_ENDPOINT" check:"web-url" also:"LOG_STORE_BASEPATH"`

	// PathStyle set to `ON` puts the bucket into the path of addresses instead of the host
	// name. Without it `LOG_STORE_ENDPOINT` means `ON`.
	PathStyle bool `env:"LOG_STORE_PATH_STYLE" envDefault:"OFF"`

	// AccessKey is the access key for the bucket. Empty means the identity of the machine,
	// or the role of `LOG_STORE_AWS_ROLE_ARN`.
	AccessKey string `env:"LOG_STORE_ACCESS_KEY"`

	// SecretKey is the secret of `LOG_STORE_ACCESS_KEY`.
	SecretKey sealed.String `env:"LOG_STORE_SECRET_KEY"`

	// RoleARN is the role that is assumed for the bucket, by the identity that assumes
	// roles (`AWS_ASSUME_ROLE_ACCESS_KEY_ID`).
	RoleARN string `env:"LOG_STORE_AWS_ROLE_ARN" check:"role-arn"`

	// ExternalID is the external id for `LOG_STORE_AWS_ROLE_ARN`.
	ExternalID string `env:"LOG_STORE_AWS_EXTERNAL_ID"`

	// CA holds further certificate authorities to check the store against, PEM.
	CA string `env:"LOG_STORE_CA" check:"certificates"`

	// Format is how bodies become objects: `blocks` puts those of many logs into one;
	// `v1` makes `30/<org>/<log-id>.json` of each log and `v2`
	// `30/<org>/<workspace-slug>/<yyyy>/<mm>/<dd>/<hh>/<log-id>.json`. What was written
	// before a change stays where it is and is read from there.
	Format string `env:"LOG_STORE_FILE_PATH_FORMAT" envDefault:"blocks" oneof:"blocks,v1,v2"`

	// Failures is how many failures in a row make the gateway leave the store alone for
	// `LOG_STORE_CONNECTION_BACKOFF_MS`. Records wait in the journal meanwhile.
	Failures int `env:"LOG_STORE_CONNECTION_FAILURE_THRESHOLD" envDefault:"5" range:"1..1000"`

	// Backoff is for how long the store is left alone then.
	Backoff time.Duration `env:"LOG_STORE_CONNECTION_BACKOFF_MS" envDefault:"60000" range:"100..3600000"`

	// Timeout is for how long nothing of a call of the store may move before it counts as
	// failed. A large object on a slow line may take longer, as long as it comes on.
	Timeout time.Duration `env:"LOG_STORE_CONNECTION_TIMEOUT_MS" envDefault:"15000" range:"100..600000"`
}

// Remote reports whether bodies are kept in a bucket.
func (l *LogStore) Remote() bool { return l.Store != LocalLogStore }

// complete settles how buckets are named. A choice is left alone.
func (l *LogStore) complete(chosen bool, derived func(name, from string)) {
	if !chosen && l.Endpoint != "" {
		l.PathStyle = true
		derived("LOG_STORE_PATH_STYLE", "LOG_STORE_ENDPOINT")
	}
}

func (l *LogStore) validate(report reporter) {
	if l.Remote() && l.Bucket == "" {
		report("LOG_STORE_BUCKET", "is needed with LOG_STORE "+l.Store, "the name of a bucket that is there")
	}
	if (l.AccessKey == "") != l.SecretKey.Empty() {
		report("LOG_STORE_SECRET_KEY", "goes together with LOG_STORE_ACCESS_KEY", "both of them, or none for the identity of the machine")
	}
}

// Roots are the authorities to check the store against; nil for those of the operating
// system alone.
func (l *LogStore) Roots() *x509.CertPool {
	if l.CA == "" {
		return nil
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	pool.AppendCertsFromPEM([]byte(l.CA)) // the check read them
	return pool
}
