package target

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"text/template"

	"sluice/test/bench/proc"
)

// Nginx is nginx before an upstream, on two ports.
type Nginx struct {
	*proc.Process
	Addr     string // passes bodies on as they come
	Buffered string // buffers them, as nginx does by default
}

// nginxConf is nginx at its best as a reverse proxy: kept connections on both sides
// for as long as the benchmark takes, no access log, the rest as it comes. It shall
// serve one port that passes bodies on as they come, which is what streams need and
// the cheapest for uploads, and one that buffers.
var nginxConf = template.Must(template.New("nginx.conf").Parse(`{{if .Root}}user root;
{{end}}worker_processes 2;
worker_rlimit_nofile 65536;
daemon off;
pid {{.Dir}}/nginx.pid;
error_log stderr notice;
events { worker_connections 32768; }
http {
  access_log off;
  client_body_temp_path {{.Dir}}/body;
  proxy_temp_path {{.Dir}}/proxy;
  fastcgi_temp_path {{.Dir}}/fastcgi;
  uwsgi_temp_path {{.Dir}}/uwsgi;
  scgi_temp_path {{.Dir}}/scgi;
  client_max_body_size 0;
  keepalive_requests 100000000;
  upstream provider {
    server {{.Upstream}};
    keepalive 4096;
    keepalive_requests 100000000;
  }
  proxy_http_version 1.1;
  proxy_set_header Connection "";
  server {
    listen {{.Addr}};
    proxy_buffering off;
    proxy_request_buffering off;
    location / { proxy_pass {{.Scheme}}://provider; }
  }
  server {
    listen {{.Buffered}};
    location / { proxy_pass {{.Scheme}}://provider; }
  }
}
`))

var nginxReady = regexp.MustCompile(`start worker process \d+\n(?s:.*)start worker process \d+\n`)

// FindNginx is the path of nginx' program; false when it is not installed.
func FindNginx() (string, bool) {
	for _, name := range []string{"nginx", "/usr/sbin/nginx", "/usr/local/sbin/nginx"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, true
		}
	}
	return "", false
}

// NginxVersion is "nginx/1.22.1".
func NginxVersion(ctx context.Context, path string) (string, error) {
	out, err := exec.CommandContext(ctx, path, "-v").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("ask nginx for its version: %w", err)
	}
	_, version, _ := strings.Cut(strings.TrimSpace(string(out)), "version: ")
	return version, nil
}

// StartNginx starts the program at path before u.
func StartNginx(ctx context.Context, path, dir string, u *Upstream) (*Nginx, error) {
	addrs, err := freeAddrs(ctx, 2)
	if err != nil {
		return nil, err
	}
	n := &Nginx{Addr: addrs[0], Buffered: addrs[1]}
	upstream, url := u.by(nginxHost)
	scheme, _, _ := strings.Cut(url, ":")
	conf := filepath.Join(dir, "nginx.conf")
	f, err := os.Create(conf)
	if err != nil {
		return nil, err
	}
	err = nginxConf.Execute(f, map[string]any{
		"Root": os.Geteuid() == 0, // otherwise its workers may not write where this run may
		"Dir":  dir, "Upstream": upstream, "Scheme": scheme, "Addr": n.Addr, "Buffered": n.Buffered,
	})
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	n.Process, err = proc.Start(ctx, proc.Command{
		Name: "nginx", Path: path, Dir: dir, Ready: nginxReady,
		Args: []string{"-p", dir, "-c", conf, "-e", "stderr"},
	})
	return n, err
}

// freeAddrs finds ports that nobody listens on now, for a program that cannot
// choose one itself.
func freeAddrs(ctx context.Context, n int) (addrs []string, err error) {
	for range n {
		ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer func() { _ = ln.Close() }() // all at the end, so that no port comes twice
		addrs = append(addrs, ln.Addr().String())
	}
	return addrs, nil
}
