package target

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"sluice/test/bench/proc"
)

// Sluice is the gateway before an upstream, as an operator would run it:
// authentication, the journal and the request log with bodies are on.
type Sluice struct {
	*proc.Process
	Addr string
	Key  string // of the workspace

	// The configs that lead to the upstream, as requests bring them:
	// {"provider":"openai",...}. Chats are relayed to OpenAI's as they come, and
	// translated for the others.
	Config, Anthropic, Bedrock string

	http http.Client
}

var sluiceReady = regexp.MustCompile(`listens on http://([^/\s]+)/v1`)

// StartSluice starts the program at path before u, with new data in dir.
func StartSluice(ctx context.Context, path, dir string, u *Upstream) (*Sluice, error) {
	s := &Sluice{
		Key:       "bench-" + rand.Text(),
		Config:    fmt.Sprintf(`{"provider":"openai","api_key":"sk-upstream","custom_host":"%s/v1"}`, u.URL()),
		Anthropic: fmt.Sprintf(`{"provider":"anthropic","api_key":"sk-upstream","custom_host":"%s/v1"}`, u.URL()),
		Bedrock:   fmt.Sprintf(`{"provider":"bedrock","aws_access_key_id":"AKIDEXAMPLE","aws_secret_access_key":"upstream","aws_region":"us-east-1","custom_host":"%s"}`, u.URL()),
		http:      http.Client{Timeout: 30 * time.Second},
	}
	env := []string{
		"HOME=" + dir, "LISTEN=127.0.0.1", "PORT=0", "DATA_DIR=" + filepath.Join(dir, "data"), "LOG_LEVEL=warn",
		"BOOTSTRAP_ADMIN_KEY=bench-" + rand.Text(), "BOOTSTRAP_WORKSPACE_KEY=" + s.Key, "TRUSTED_CUSTOM_HOSTS=127.0.0.1",
	}
	if u.CAFile != "" {
		env = append(env, "SSL_CERT_FILE="+u.CAFile)
	}
	for _, name := range []string{"GOGC", "GOMEMLIMIT", "GOMAXPROCS", "GODEBUG"} {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	var err error
	s.Process, err = proc.Start(ctx, proc.Command{Name: "sluice", Path: path, Args: []string{"serve"}, Env: env, Dir: dir, Ready: sluiceReady})
	if err != nil {
		return nil, err
	}
	s.Addr = s.Said[1]
	return s, nil
}

// Records is how many records the journal has taken.
func (s *Sluice) Records(ctx context.Context) (int64, error) {
	return s.figure(ctx, "sluice_journal_records_total")
}

// Settle waits until the request log has caught up with the journal.
func (s *Sluice) Settle(ctx context.Context) error {
	look := time.NewTicker(100 * time.Millisecond)
	defer look.Stop()
	for {
		lag, err := s.figure(ctx, "sluice_journal_lag_records")
		if err != nil || lag == 0 {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the request log lags %d records behind: %w", lag, ctx.Err())
		case <-look.C:
		}
	}
}

// figure reads one figure of /metrics.
func (s *Sluice) figure(ctx context.Context, name string) (int64, error) {
	page, err := get(ctx, &s.http, "http://"+s.Addr+"/metrics")
	if err != nil {
		return 0, err
	}
	return figureOf(page, name)
}

// figureOf finds a figure without labels on a page of metrics.
func figureOf(page, name string) (int64, error) {
	for line := range strings.Lines(page) {
		if v, ok := strings.CutPrefix(line, name+" "); ok {
			n, err := strconv.ParseFloat(strings.TrimSpace(v), 64)
			return int64(n), err
		}
	}
	return 0, fmt.Errorf("no figure %s among the metrics", name)
}
