package target

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
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

// StartSluice starts the program at path before u, with new data in dir, and with further
// settings ("PORT=1234") that beat those of the benchmark.
func StartSluice(ctx context.Context, path, dir string, u *Upstream, settings ...string) (*Sluice, error) {
	s, command := newSluice(path, dir, u)
	command.Env = append(command.Env, settings...)
	return s, s.start(ctx, command)
}

// newSluice says how the program at path is started before u.
func newSluice(path, dir string, u *Upstream) (*Sluice, proc.Command) {
	_, url := u.by(sluiceHost)
	s := &Sluice{
		Key:       "bench-" + rand.Text(),
		Config:    fmt.Sprintf(`{"provider":"openai","api_key":"sk-upstream","custom_host":"%s/v1"}`, url),
		Anthropic: fmt.Sprintf(`{"provider":"anthropic","api_key":"sk-upstream","custom_host":"%s/v1"}`, url),
		Bedrock:   fmt.Sprintf(`{"provider":"bedrock","aws_access_key_id":"AKIDEXAMPLE","aws_secret_access_key":"upstream","aws_region":"us-east-1","custom_host":"%s"}`, url),
		http:      http.Client{Timeout: 30 * time.Second},
	}
	env := []string{
		"HOME=" + dir, "LISTEN=127.0.0.1", "PORT=0", "DATA_DIR=" + filepath.Join(dir, "data"), "LOG_LEVEL=warn",
		"BOOTSTRAP_ADMIN_KEY=bench-" + rand.Text(), "BOOTSTRAP_WORKSPACE_KEY=" + s.Key, "TRUSTED_CUSTOM_HOSTS=127.0.0.1," + sluiceHost, "ADMIN_REQUESTS_PER_MINUTE=0",
	}
	if u.CAFile != "" {
		env = append(env, "SSL_CERT_FILE="+u.CAFile)
	}
	for _, name := range []string{"GOGC", "GOMEMLIMIT", "GOMAXPROCS", "GODEBUG"} {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	args := []string{"serve"}
	if profiles := os.Getenv("SLUICE_PROFILES"); profiles != "" { // see `make profile`
		args = append(args, "--cpu-profile", filepath.Join(profiles, rand.Text()+".pprof"))
	}
	return s, proc.Command{Name: "sluice", Path: path, Args: args, Env: env, Dir: dir, Ready: sluiceReady}
}

func (s *Sluice) start(ctx context.Context, command proc.Command) (err error) {
	if s.Process, err = proc.Start(ctx, command); err == nil {
		s.Addr = s.ReadyMatch[1]
	}
	return err
}
