package redis

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/redis/rueidis"
)

// slot runs scripts and commands on one slot of Redis. It does not know the state of this node.
type slot struct {
	o       *Options
	life    string // id of this process
	redis   *connector
	scripts *scripts
	number  int
	prefix  string // "sluice:{limits-3}:"
	roll    string // key of the roll of nodes, the first key of every script
}

// run runs a script in the slot and reads its result.
func (sl *slot) run(ctx context.Context, s *script, args []string) (scriptResult, error) {
	list, err := sl.exec(ctx, s, args)
	if err != nil {
		return scriptResult{}, err
	}
	return read(s.name, list)
}

// exec runs a script in the slot, as connector.ask does.
func (sl *slot) exec(ctx context.Context, s *script, args []string) (list []rueidis.RedisMessage, err error) {
	err = sl.redis.ask(ctx, s.name, func(ctx context.Context, c rueidis.Client) (err error) {
		list, err = s.lua.Exec(ctx, c, []string{sl.roll}, args).ToArray()
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("redis, %s: %w", s.name, err)
	}
	return list, nil
}

// head returns the arguments that all scripts begin with.
func (sl *slot) head(epoch string, done int64, extra int) []string {
	now := ""
	if c := sl.o.Clock; c != nil {
		now = decimal(c.Now().UnixMilli())
	}
	return append(make([]string, 0, 6+extra), sl.prefix, sl.o.Node, epoch, decimal(done), now, sl.life)
}

// eachTriple runs a script that returns a list of triples: a string and two numbers.
func (sl *slot) eachTriple(ctx context.Context, s *script, args []string, visit func(string, int64, int64)) error {
	list, err := sl.exec(ctx, s, args)
	if err != nil {
		return err
	}
	for ; len(list) >= 3; list = list[3:] {
		text, err := list[0].ToString()
		first, err1 := list[1].AsInt64()
		second, err2 := list[2].AsInt64()
		if err := errors.Join(err, err1, err2); err != nil {
			return fmt.Errorf("redis, %s: %w", s.name, err)
		}
		visit(text, first, second)
	}
	return nil
}

// findDeadNodes counts missing nodes for the metric. The script also drops what a missing node
// had of budgets that were reset since its last heartbeat.
func (sl *slot) findDeadNodes(ctx context.Context) {
	a, err := sl.run(ctx, &sl.scripts.missing, append(sl.head("", 0, 1), decimal(missing.Milliseconds())))
	if err == nil {
		sl.o.Metrics.missing.WithLabelValues(strconv.Itoa(sl.number)).Set(float64(a.rest[0]))
	}
}
