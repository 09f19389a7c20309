package redis

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"sluice/internal/limits/quota"
)

// Node is a node that is registered in Redis.
type Node struct {
	ID      string        // as in Options.Node
	Silent  time.Duration // time since its last message, by the clock of Redis
	Missing bool          // silent for more than a minute
	Budgets int           // number of budgets for which it has something that is not stored
}

// ListNodes lists the nodes that Redis has: those that run, and those that ended and left
// something. The one with the latest message is first.
func ListNodes(ctx context.Context, s Server) (list []Node, err error) {
	err = visitPartition(s, "", func(b *Limiter) error {
		all := make(map[string]*Node)
		for i := range b.partitions {
			if err := b.partitions[i].roster(ctx, all); err != nil {
				return err
			}
		}
		for _, n := range all {
			n.Missing = n.Silent > missing
			list = append(list, *n)
		}
		return nil
	})
	slices.SortFunc(list, func(a, b Node) int { return cmp.Or(cmp.Compare(a.Silent, b.Silent), cmp.Compare(a.ID, b.ID)) })
	return list, err
}

// Forget releases the share of a node that is gone for good, and returns it, in the units of
// each budget: nano-dollars, tokens or requests. That usage is then not counted anywhere. It
// is an error, and nothing is released, if the node is unknown or sent a message within the
// last minute. A node that comes back reports its share again.
func Forget(ctx context.Context, s Server, node string) (released []quota.NodeShare, err error) {
	list, err := ListNodes(ctx, s)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(list, func(n Node) bool { return n.ID == node })
	switch {
	case i < 0:
		return nil, fmt.Errorf("redis has no node %q; sluice limits nodes lists them", node)
	case !list[i].Missing:
		return nil, fmt.Errorf("the node %s was seen %s ago and is still running; stop it, and remove it a minute later", node, list[i].Silent.Round(time.Second))
	}
	err = visitPartition(s, node, func(b *Limiter) error {
		for i := range b.partitions {
			parts, err := b.partitions[i].forget(ctx)
			if err != nil {
				return err
			}
			released = append(released, parts...)
		}
		return nil
	})
	return released, err
}

// visitPartition connects as a node that does not run here.
func visitPartition(s Server, node string, use func(*Limiter) error) error {
	b, err := New(Options{Server: s, Node: node})
	if err != nil {
		return err
	}
	if err := b.redis.connect(); err != nil {
		return err
	}
	l := b.redis.link.Load()
	defer l.client.Close()
	return use(b)
}

// roster adds the nodes of the partition to all.
func (sl *slot) roster(ctx context.Context, all map[string]*Node) error {
	return sl.eachTriple(ctx, &sl.scripts.roster, sl.head("", 0, 0), func(id string, silentMS, budgets int64) {
		silent := time.Duration(silentMS) * time.Millisecond
		n := all[id]
		if n == nil {
			n = &Node{ID: id, Silent: silent}
			all[id] = n
		}
		n.Silent, n.Budgets = min(n.Silent, silent), n.Budgets+int(budgets)
	})
}

// forget releases the share of the visited node in the partition.
func (sl *slot) forget(ctx context.Context) (released []quota.NodeShare, err error) {
	args := append(sl.head("", 0, 1), decimal(missing.Milliseconds()))
	err = sl.eachTriple(ctx, &sl.scripts.forget, args, func(id string, held, used int64) {
		if counter, ok := nameOf(strings.TrimPrefix(id, budgetPrefix)); ok {
			released = append(released, quota.NodeShare{Counter: counter, Held: held, Used: used})
		}
	})
	return released, err
}
