package options

import (
	"cmp"
	"crypto/tls"
	"net/http"
	"net/url"
	"strings"

	"github.com/aws/aws-sdk-go-v2/credentials"

	"sluice/internal/ops/config"
	"sluice/internal/provider/sign"
	"sluice/internal/storage/requestlog/objects"
)

// Bucket converts the settings to the options of the object store. Its address may be
// private, because the operator sets it.
func Bucket(s config.Settings, signers *sign.Set) objects.Options {
	l := s.LogStore
	o := objects.Options{
		Bucket: l.Bucket, Region: l.Region, Endpoint: l.Endpoint, PathStyle: l.PathStyle,
		HTTP: bucketClient(s), Timeout: l.Timeout, Failures: l.Failures, Backoff: l.Backoff,
	}
	if prefix := strings.Trim(l.Prefix, "/"); prefix != "" {
		o.Prefix = prefix + "/"
	}
	if l.Store == config.GoogleLogStore {
		o.Endpoint, o.PathStyle = cmp.Or(o.Endpoint, objects.GoogleEndpoint), true
	}
	switch {
	case l.Store == config.GoogleLogStore && l.AccessKey == "":
		o.Google = signers.GoogleToken
	case l.AccessKey != "":
		o.AWS = credentials.NewStaticCredentialsProvider(l.AccessKey, l.SecretKey.Reveal(), "")
	default:
		o.AWS = signers.AWSCredentials(l.Region, l.RoleARN, l.ExternalID)
	}
	return o
}

// bucketClient returns a client that uses the proxies of the settings and trusts LOG_STORE_CA.
func bucketClient(s config.Settings) *http.Client {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConnsPerHost = 32
	t.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: s.LogStore.Roots()}
	t.Proxy = nil
	if choose := proxy(s); choose != nil {
		t.Proxy = func(r *http.Request) (*url.URL, error) { return choose(r.URL) }
	}
	return &http.Client{Transport: t}
}
