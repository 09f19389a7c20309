package config

import (
	"crypto/x509"
	"time"

	"sluice/internal/kernel/sealed"
)

// Where the bodies of the request log are kept.
const (
	LocalLogStore  = "local"
	S3LogStore     = "s3"
	GoogleLogStore = "gcs"
)

// LogStore sets where request and response bodies are stored. See docs/logs.md.
type LogStore struct {
	// Store is the location of bodies. `local` means files in `DATA_DIR`. `s3` means a
	// bucket of Amazon S3 or of an S3-compatible store. `gcs` means a bucket of Google
	// Cloud Storage, with the gateway's own identity there (`GCP_AUTH_MODE`,
	// `CLOUD_WIF_AUDIENCE`). Nodes that share a bucket can read each other's bodies.
	Store string `env:"LOG_STORE" envDefault:"local" oneof:"local,s3,gcs"`

	// Bucket is the name of the bucket. The bucket must exist.
	Bucket string `env:"LOG_STORE_BUCKET" check:"bucket" also:"LOG_STORE_GENERATIONS_BUCKET"`

	// Prefix is the beginning of all object keys, for example `gateway/`.
	Prefix string `env:"LOG_STORE_PREFIX" check:"stored-path"`

	// Region is the region of the bucket.
	Region string `env:"LOG_STORE_REGION" envDefault:"us-east-1"`

	// Endpoint is the address of a store other than AWS or Google, for example
	// `https://minio.internal:9000`. The address can be private.
	Endpoint string `env:"LOG_STORE_ENDPOINT" check:"web-url" also:"LOG_STORE_BASEPATH"`

	// PathStyle puts the bucket name into the path of addresses instead of the host name.
	// If it is not set, it is `ON` when `LOG_STORE_ENDPOINT` is set.
	PathStyle bool `env:"LOG_STORE_PATH_STYLE" envDefault:"OFF"`

	// AccessKey is the access key for the bucket. If it is empty, the gateway uses the role
	// `LOG_STORE_AWS_ROLE_ARN`, or the identity of the machine.
	AccessKey string `env:"LOG_STORE_ACCESS_KEY"`

	// SecretKey is the secret of `LOG_STORE_ACCESS_KEY`.
	SecretKey sealed.String `env:"LOG_STORE_SECRET_KEY"`

	// RoleARN is the role that the gateway assumes for the bucket, with the identity that
	// assumes roles (`AWS_ASSUME_ROLE_ACCESS_KEY_ID`).
	RoleARN string `env:"LOG_STORE_AWS_ROLE_ARN" check:"role-arn"`

	// ExternalID is the external id for `LOG_STORE_AWS_ROLE_ARN`.
	ExternalID string `env:"LOG_STORE_AWS_EXTERNAL_ID"`

	// CA contains additional certificate authorities that verify the store, in PEM form.
	CA string `env:"LOG_STORE_CA" check:"certificates"`

	// Format sets how bodies become objects. `blocks` puts the bodies of many logs into one
	// object. `v1` writes `30/<org>/<log-id>.json` for each log, and `v2` writes
	// `30/<org>/<workspace-slug>/<yyyy>/<mm>/<dd>/<hh>/<log-id>.json`. A change does not
	// affect bodies that are already stored; they remain readable.
	Format string `env:"LOG_STORE_FILE_PATH_FORMAT" envDefault:"blocks" oneof:"blocks,v1,v2"`

	// Failures is the number of failures in a row after which the gateway pauses for
	// `LOG_STORE_CONNECTION_BACKOFF_MS` before it calls the store again. Records wait in
	// the journal meanwhile.
	Failures int `env:"LOG_STORE_CONNECTION_FAILURE_THRESHOLD" envDefault:"5" range:"1..1000"`

	// Backoff is the length of the pause after `LOG_STORE_CONNECTION_FAILURE_THRESHOLD`
	// failures in a row.
	Backoff time.Duration `env:"LOG_STORE_CONNECTION_BACKOFF_MS" envDefault:"60000" range:"100..3600000"`

	// Timeout is how long a transfer to or from the store can stall before it counts as
	// failed. A large object on a slow connection can take longer, as long as it makes
	// progress.
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
		report("LOG_STORE_BUCKET", "is required with LOG_STORE "+l.Store, "the name of an existing bucket")
	}
	if (l.AccessKey == "") != l.SecretKey.Empty() {
		report("LOG_STORE_SECRET_KEY", "must be set together with LOG_STORE_ACCESS_KEY", "both, or neither to use the machine's identity")
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
