package main

import (
	"context"
	"fmt"
	"os"
	"text/tabwriter"
	"time"

	"sluice/internal/app"
)

type limitsCommand struct {
	Nodes  listNodes  `cmd:"" help:"List the nodes that share limits in Redis, and the budget that missing nodes hold."`
	Forget forgetNode `cmd:"" help:"Release the budget that a permanently removed node holds."`
}

type listNodes struct{}

// Run prints one line for each node.
func (listNodes) Run(ctx context.Context, s *settings) error {
	l, _, err := s.load()
	if err != nil {
		return err
	}
	nodes, err := app.Nodes(ctx, l.Settings)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "NODE\tSTATE\tLAST SEEN\tHELD BUDGET")
	for _, n := range nodes {
		state := "runs"
		if n.Missing {
			state = "missing"
		}
		fmt.Fprintf(w, "%s\t%s\t%s ago\t%d\n", n.ID, state, n.Silent.Round(time.Second), n.Budgets)
	}
	return w.Flush()
}

type forgetNode struct {
	Node string `arg:"" help:"Id of the node, as listed by limits nodes and stored in its DATA_DIR/journal/node."`
}

// Run prints what is given back, one line for each budget.
func (c forgetNode) Run(ctx context.Context, s *settings) error {
	l, _, err := s.load()
	if err != nil {
		return err
	}
	shares, err := app.ForgetNode(ctx, l.Settings, c.Node)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "OF\tBUDGET\tHELD\tUSED")
	for _, p := range shares {
		fmt.Fprintf(w, "%s\t%s\t%d\t%d\n", p.Counter.Subject, p.Counter.Entry+p.Counter.ValueKey, p.Held, p.Used)
	}
	return w.Flush()
}
