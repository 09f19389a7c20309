package doctor

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"sluice/internal/ops/hint"
	"sluice/internal/provider"
	"sluice/internal/provider/transport"
)

// Limits of the provider checks.
const (
	maxUpstreams    = 100 // addresses that are tried
	upstreamsAtOnce = 8
	upstreamPatient = 15 * time.Second
)

// Upstreams checks that the saved providers can be reached, through the same client, guard and
// proxy as real calls. It does not send credentials. Without saved providers it tries the host of
// OpenAI. A failure is then only a warning, because nothing in use depends on it. It runs after
// Sealing.
type Upstreams struct {
	Deployment *Deployment
	Transport  transport.Options
	Ignored    []string // ids of integrations that are not checked
}

// Run implements Check. It returns a finding for each address.
func (c Upstreams) Run(ctx context.Context) []Finding {
	d := c.Deployment
	specs, err := provider.Load()
	if err != nil {
		return []Finding{{Subject: "upstream", Err: err}}
	}
	addresses, err := d.addresses(ctx, specs, c.Ignored)
	if err != nil {
		return []Finding{{Subject: "upstream", Err: fmt.Errorf("read saved providers: %w", hint.DatabaseError(d.Database, err)), Hint: "check ENCRYPTION_KEY or the key file in DATA_DIR, which seals saved credentials"}}
	}
	none := len(addresses) == 0
	if none {
		well, _ := specs.Find("openai")
		addresses = []string{well.BaseURL}
	}
	client := transport.New(c.Transport)
	defer client.Close()
	out := tryUpstreams(ctx, client, addresses[:min(len(addresses), maxUpstreams)])
	if f := &out[0]; none && f.Err != nil {
		f.Warning, f.Err = true, fmt.Errorf("%s; %w", d.whyNone(), f.Err)
	} else if none {
		f.Detail += "; " + d.whyNone()
	}
	return out
}

func tryUpstreams(ctx context.Context, client *transport.Client, addresses []string) []Finding {
	out := make([]Finding, len(addresses))
	var g sync.WaitGroup
	turns := make(chan struct{}, upstreamsAtOnce)
	for i := range out {
		turns <- struct{}{}
		g.Go(func() {
			out[i] = tryUpstream(ctx, client, addresses[i])
			<-turns
		})
	}
	g.Wait()
	return out
}

// whyNone returns the reason why there are no provider addresses.
func (d *Deployment) whyNone() string {
	if !d.fresh && (d.db == nil || d.box == nil) {
		return "cannot read the saved providers"
	}
	return "no providers are saved"
}

// tryUpstream calls an address without a credential. Every response counts as success.
func tryUpstream(ctx context.Context, c *transport.Client, address string) Finding {
	f := Finding{Subject: "upstream", Hint: "check DNS, the firewall, and HTTP_PROXY, HTTPS_PROXY and NO_PROXY; private addresses must be in TRUSTED_CUSTOM_HOSTS"}
	u, err := url.Parse(address)
	if err != nil {
		f.Err = err
		return f
	}
	ctx, stop := context.WithTimeout(ctx, upstreamPatient)
	defer stop()
	target := strings.TrimSuffix(u.EscapedPath(), "/") + "/models"
	resp, err := c.Do(ctx, &transport.Request{Method: http.MethodGet, Scheme: u.Scheme, Host: u.Host, Target: target, HeadTimeout: upstreamPatient})
	if err != nil {
		f.Err = fmt.Errorf("%s: %w", u.Host, err)
		return f
	}
	_ = resp.Body.Close() // only the fact that it responds matters
	f.Detail = fmt.Sprintf("%s responds (%d without a key)", u.Host, resp.Status)
	return f
}
