package target

import (
	"context"
	"net"
	"os/exec"
	"regexp"

	"sluice/test/bench/proc"
)

// Redis is a server of its own, on which limits hold over all nodes. It keeps nothing.
type Redis struct {
	*proc.Process
	Addr string // "127.0.0.1:40001"
}

var redisReady = regexp.MustCompile(`Ready to accept connections`)

// FindRedis is the path of redis-server; false when it is not installed.
func FindRedis() (string, bool) {
	path, err := exec.LookPath("redis-server")
	return path, err == nil
}

// StartRedis starts the program at path, with its output in dir.
func StartRedis(ctx context.Context, path, dir string) (*Redis, error) {
	addrs, err := freeAddrs(ctx, 1)
	if err != nil {
		return nil, err
	}
	_, port, err := net.SplitHostPort(addrs[0])
	if err != nil {
		return nil, err
	}
	r := &Redis{Addr: addrs[0]}
	r.Process, err = proc.Start(ctx, proc.Command{
		Name: "redis", Path: path, Dir: dir, Ready: redisReady,
		Args: []string{"--bind", "127.0.0.1", "--port", port, "--save", "", "--appendonly", "no", "--dir", dir},
	})
	return r, err
}
