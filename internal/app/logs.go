package app

import (
	"cmp"
	"crypto/tls"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/aws/aws-sdk-go-v2/credentials"

	"sluice/internal/config"
	"sluice/internal/logstore"
	"sluice/internal/logstore/bodies"
	"sluice/internal/logstore/objects"
	"sluice/internal/provider/sign"
)

// openBodies opens the store of bodies: files, or a bucket together with older files from before
// the bucket was configured.
func (a *App) openBodies() (logstore.BodyStore, error) {
	dir := filepath.Join(a.set.Data.Dir, "logs", bodiesFolder(a.set))
	files, err := bodies.Open(bodies.Options{Dir: dir, Node: a.nodeName(), Clock: a.clock})
	if err != nil {
		return nil, fmt.Errorf("open stored bodies: %w", err)
	}
	if !a.set.LogStore.Remote() {
		a.closers = append(a.closers, files)
		return files, nil
	}
	a.bucket = objects.New(bucketOptions(a.set, sign.New(signOptions(a.set, nil))))
	store := bodies.NewObjects(bodies.ObjectOptions{
		Dir: dir, Bucket: a.bucket, Node: a.nodeName(), Local: files, Format: bodies.Format(a.set.LogStore.Format), Slug: a.slugOf,
	})
	a.closers = append(a.closers, store)
	return store, nil
}

// slugOf returns the slug of a workspace; empty for an unknown workspace.
func (a *App) slugOf(workspaceID string) string {
	if s := a.directory.Current().FindWorkspace(workspaceID); s != nil {
		return s.Slug
	}
	return ""
}

// bucketOptions converts the settings to the options of the object store. Its address may be
// private, because the operator sets it.
func bucketOptions(s config.Settings, signers *sign.Set) objects.Options {
	l := s.LogStore
	o := objects.Options{
		Bucket: l.Bucket, Region: l.Region, Endpoint: l.Endpoint, PathStyle: l.PathStyle,
		HTTP: bucketHTTP(s), Timeout: l.Timeout, Failures: l.Failures, Backoff: l.Backoff,
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

// bucketHTTP returns a client that uses the proxies of the settings and trusts LOG_STORE_CA.
func bucketHTTP(s config.Settings) *http.Client {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConnsPerHost = 32
	t.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: s.LogStore.Roots()}
	t.Proxy = nil
	if choose := proxyOf(s); choose != nil {
		t.Proxy = func(r *http.Request) (*url.URL, error) { return choose(r.URL) }
	}
	return &http.Client{Transport: t}
}
