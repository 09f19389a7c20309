// Package vaultstore stores what reversible redaction hides in Redis, so that each node of a fleet
// restores what another one hid. It implements placeholder.Backend. Start with NewRedis.
//
// Each conversation is one key with an expiry. Its name has hashes of caller and conversation. Two more
// keys of a caller bound its share: when it is exceeded, the conversations that expire first go.
package vaultstore

import (
	"cmp"
	"context"
	"crypto/sha1" //nolint:gosec // it identifies a value for a script, which has no other hash
	_ "embed"
	"encoding/hex"
	"errors"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/redis/rueidis"

	"sluice/internal/gateway/cache/redisconn"
	"sluice/internal/kernel/ident"
)

// Options are the settings of Redis. Server and Clock are required.
type Options struct {
	Server  rueidis.ClientOption // as in redisconn.Options
	Timeout time.Duration        // of one operation, which calls wait for; 0 means 100 ms
	// MaxConversations and MaxBytes bound what is stored for a caller; 0 means 10,000 and 32 MiB.
	MaxConversations, MaxBytes int
	Clock                      ident.Clock
	Log                        *slog.Logger // nil discards logs
}

// errFull means that the server has no memory left for values.
var errFull = errors.New("redis has no memory left for placeholders")

// Redis is a placeholder.Backend that all nodes with the same server share. Its methods return an error
// at once while the server cannot be used. It is safe for concurrent use. Create one with NewRedis.
type Redis struct {
	o    Options
	conn *redisconn.Conn
}

// NewRedis returns a backend and connects in the background. The caller closes it.
func NewRedis(o Options) *Redis {
	o.Timeout = cmp.Or(o.Timeout, 100*time.Millisecond)
	o.MaxConversations, o.MaxBytes = cmp.Or(o.MaxConversations, 10_000), cmp.Or(o.MaxBytes, 32<<20)
	return &Redis{o: o, conn: redisconn.New(redisconn.Options{Server: o.Server, Name: "placeholders", Clock: o.Clock, Log: o.Log})}
}

// callerPrefix begins the keys of a caller. The braces keep them on one server of a cluster.
func callerPrefix(caller string) string { return "sluice:placeholders:{" + caller + "}:" }

// Get implements placeholder.Backend.
func (r *Redis) Get(ctx context.Context, key string) ([]byte, error) {
	caller, conversation, _ := strings.Cut(key, "/")
	return redisconn.Run(ctx, r.conn, r.o.Timeout, func(ctx context.Context, c rueidis.Client) ([]byte, error) {
		value := c.Do(ctx, c.B().Get().Key(callerPrefix(caller)+conversation).Build())
		if rueidis.IsRedisNil(value.Error()) {
			return nil, nil
		}
		return value.AsBytes()
	})
}

//go:embed swap.lua
var swapSource string

var swapScript = rueidis.NewLuaScript(swapSource)

// Swap implements placeholder.Backend.
func (r *Redis) Swap(ctx context.Context, key string, old, value []byte, ttl time.Duration) (bool, error) {
	caller, conversation, _ := strings.Cut(key, "/")
	prefix := callerPrefix(caller)
	names := []string{prefix + conversation, prefix + "times", prefix + "sizes"}
	arguments := []string{
		present(old), rueidis.BinaryString(value), strconv.FormatInt(ttl.Milliseconds(), 10), conversation, prefix,
		strconv.Itoa(r.o.MaxConversations), strconv.Itoa(r.o.MaxBytes),
	}
	done, err := redisconn.Run(ctx, r.conn, r.o.Timeout, func(ctx context.Context, c rueidis.Client) (swapped, error) {
		if full, err := r.conn.IsFull(ctx, c); full || err != nil {
			return swapped{full: full}, err
		}
		stored, err := swapScript.Exec(ctx, c, names, arguments).AsBool()
		return swapped{stored: stored}, err
	})
	if done.full {
		err = errFull
	}
	return done.stored, err
}

// swapped is the result of Swap.
type swapped struct{ stored, full bool }

// present returns how the script identifies a value; empty for none.
func present(value []byte) string {
	if value == nil {
		return ""
	}
	sum := sha1.Sum(value) //nolint:gosec // as above
	return hex.EncodeToString(sum[:])
}

// Failures returns the number of operations that failed or took too long since the start, without those
// that were not tried because of earlier failures.
func (r *Redis) Failures() int64 { return r.conn.Failures() }

// Close waits for operations in progress and closes the connection. No other method may be called
// afterwards.
func (r *Redis) Close() error {
	r.conn.Close()
	return nil
}
