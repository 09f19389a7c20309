package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"time"

	"sluice/test/bench/target"
)

// The databases of a campaign.
const (
	sqlite   = "sqlite"
	postgres = "postgres"
)

// runsOfEpoch is how many kills the keys of an epoch live through.
const runsOfEpoch = 5

// catchUpLimit is the longest that the request log may take to have all records.
const catchUpLimit = 30 * time.Second

// options are what a campaign is about.
type options struct {
	program  string // path of the gateway
	engine   string
	runs     int
	seed     uint64
	progress io.Writer // progress
}

// campaign is a gateway that is killed over and over on the same data.
type campaign struct {
	options
	dir        string
	db         *target.Database
	node       *node
	api        *api
	provider   *provider
	list       price // what a token costs without a factor
	rate       int64 // nano-dollars that a token of input costs now
	epochs     []*epoch
	tally      tally
	retainData bool // the data stay for somebody to look at
}

// prepare founds the deployment of a campaign and starts its upstream. close must be
// called.
func prepare(ctx context.Context, o options) (_ *campaign, err error) {
	c := &campaign{options: o, tally: tally{engine: o.engine, seed: o.seed}}
	if c.dir, err = os.MkdirTemp("", "sluice-crash-"+o.engine+"-"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("%s: %w", o.engine, err), c.close())
		}
	}()
	switch o.engine {
	case sqlite:
		c.db = target.SQLite()
	case postgres:
		if c.db, err = target.Postgres(ctx); err != nil {
			return nil, err
		}
	default:
		return nil, fmt.Errorf("unknown engine %q; use %s or %s", o.engine, sqlite, postgres)
	}
	if c.provider, err = openProvider(ctx, o.seed); err != nil {
		return nil, err
	}
	return c, c.found(ctx)
}

// found starts the gateway for the first time and saves the upstream in it.
func (c *campaign) found(ctx context.Context) error {
	key, admin := "crash-"+rand.Text(), "crash-"+rand.Text()
	path, err := filepath.Abs(c.program)
	if err != nil {
		return err
	}
	c.node = &node{path: path, dir: c.dir, env: append(c.db.Env(),
		"HOME="+c.dir, "LISTEN=127.0.0.1", "PORT=0", "DATA_DIR="+filepath.Join(c.dir, "data"), "LOG_LEVEL=warn",
		"BOOTSTRAP_ADMIN_KEY="+admin, "BOOTSTRAP_WORKSPACE_KEY="+key, "TRUSTED_CUSTOM_HOSTS=127.0.0.1",
		"ADMIN_REQUESTS_PER_MINUTE=0", "ENCRYPTION_KEY=a sealing key of the crash campaign")}
	if _, err := c.node.start(ctx); err != nil {
		return err
	}
	c.api = &api{node: c.node, key: key, admin: admin}
	if err := c.api.saveUpstream(ctx, c.provider.url()); err != nil {
		return err
	}
	if err := c.api.savePolicies(ctx); err != nil {
		return err
	}
	c.list, err = c.api.price(ctx)
	c.rate = c.list.input
	return err
}

// run kills as often as it was asked to, and looks once more at everything in the end.
func (c *campaign) run(ctx context.Context) error {
	for i := range c.runs {
		if err := c.once(ctx, i); err != nil {
			c.retainData = true
			return fmt.Errorf("%s, run %d, seed %d, data in %s: %w", c.engine, i, c.seed, c.dir, err)
		}
	}
	if err := c.check(ctx, c.epochs); err != nil {
		c.retainData = true
		return fmt.Errorf("%s, after all runs, seed %d, data in %s: %w", c.engine, c.seed, c.dir, err)
	}
	return nil
}

// once puts load on the gateway, kills it, starts it again and checks the books.
func (c *campaign) once(ctx context.Context, i int) error {
	r := mathrand.New(mathrand.NewPCG(c.seed, uint64(i)))
	if i%runsOfEpoch == 0 {
		e, err := c.api.newEpoch(ctx, len(c.epochs), r)
		if err != nil {
			return err
		}
		e.charge(c.rate)
		c.epochs = append(c.epochs, e)
	}
	e := c.epochs[len(c.epochs)-1]
	m := c.moment(r)
	before := e.count()
	if err := c.killUnderLoad(ctx, e, m, r); err != nil {
		return fmt.Errorf("%s: %w", m, err)
	}
	if err := c.restart(ctx, m); err != nil {
		return fmt.Errorf("%s: %w", m, err)
	}
	if err := c.check(ctx, c.epochs[len(c.epochs)-1:]); err != nil {
		return fmt.Errorf("%s: %w", m, err)
	}
	if (i+1)%runsOfEpoch == 0 || i+1 == c.runs {
		if err := c.rerateAll(ctx, e, r); err != nil {
			return fmt.Errorf("%s, billed again: %w", m, err)
		}
	}
	c.tally.add(m, e.count().less(before))
	if (i+1)%25 == 0 {
		fmt.Fprintln(c.progress, c.tally.String())
	}
	return nil
}

// killUnderLoad returns when the gateway is dead and all callers know it.
func (c *campaign) killUnderLoad(ctx context.Context, e *epoch, m moment, r *mathrand.Rand) error {
	entries, err := newWatch(filepath.Join(c.dir, "data", "journal"))
	if err != nil {
		return err
	}
	kill := c.provider.arm(m, c.node.life.kill)
	defer c.provider.disarm()
	timer := time.AfterFunc(m.after, kill)
	defer timer.Stop()
	var errs [3]error
	load, order := newLoad(c, e, m, kill, r), c.newOrder(e, m, r)
	watching, enough := context.WithCancel(ctx)
	var work sync.WaitGroup
	if m.order >= 0 {
		work.Go(func() { errs[0] = order.run(ctx, c.node.life.ended) })
		work.Go(func() { errs[1] = entries.run(watching, c.provider.reached) })
	}
	errs[2] = load.run(ctx)
	enough()
	work.Wait()
	return errors.Join(errs[:]...)
}

// restart starts the gateway, after it was killed again while it came up as often as the
// moment says.
func (c *campaign) restart(ctx context.Context, m moment) error {
	for _, d := range m.again {
		if err := c.node.launch(ctx); err != nil {
			return err
		}
		timer := time.AfterFunc(d, c.node.life.kill)
		c.node.await(ctx)
		timer.Stop()
		c.node.life.kill()
	}
	took, err := c.node.start(ctx)
	if err != nil {
		return err
	}
	c.tally.restarts = append(c.tally.restarts, took)
	return nil
}

// check holds the books of some epochs against what really happened.
func (c *campaign) check(ctx context.Context, epochs []*epoch) error {
	ctx, cancel := context.WithTimeout(ctx, catchUpLimit)
	defer cancel()
	if err := c.api.caughtUp(ctx); err != nil {
		return err
	}
	for _, e := range epochs {
		for _, k := range e.keys {
			b, err := c.api.books(ctx, k)
			if err != nil {
				return err
			}
			t := truth{prices: c.prices(e), limit: k.limit, calls: e.callsOf(k), served: c.provider.served(e.number)}
			if wrong := t.judge(b); len(wrong) > 0 {
				return &mismatch{epoch: e.number, key: k.id, what: wrong}
			}
		}
	}
	return nil
}

// prices are those that there may have been in an epoch.
func (c *campaign) prices(e *epoch) []price {
	var out []price
	for _, inputPrice := range e.charged() {
		out = append(out, price{inputPrice, c.list.out})
	}
	return out
}

// close ends everything, and removes the data unless somebody has to look at them.
func (c *campaign) close() error {
	if c.node != nil && c.node.life != nil {
		c.node.life.kill()
	}
	var errs []error
	if c.provider != nil {
		errs = append(errs, c.provider.close())
	}
	if c.retainData {
		return errors.Join(errs...)
	}
	if c.db != nil {
		errs = append(errs, c.db.Drop())
	}
	return errors.Join(append(errs, os.RemoveAll(c.dir))...)
}
