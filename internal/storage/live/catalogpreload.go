package live

import "context"

// catalogPreload loads what must be known about a kind of provider before a provider of that
// kind is published. Its fields may be used only by the holder of Directory.turn.
type catalogPreload struct {
	learn func(ctx context.Context, kinds []string)
	known map[string]bool // by kind: already learnt
}

// OnNewProviders sets learn, which is called with new kinds of providers, as named by
// Snapshot.Kinds, before the first snapshot that contains them is published. All changes wait
// until learn returns, so it must limit its time. OnNewProviders itself calls learn first,
// with the current kinds.
func (d *Directory) OnNewProviders(ctx context.Context, learn func(ctx context.Context, kinds []string)) {
	d.turn <- struct{}{}
	defer func() { <-d.turn }()
	d.preload = &catalogPreload{learn, make(map[string]bool)}
	d.publish(ctx, d.Current())
}

// publish makes a snapshot the current one.
func (d *Directory) publish(ctx context.Context, s *Snapshot) {
	if d.preload != nil {
		d.preload.run(ctx, s)
	}
	d.now.Store(s)
}

// run learns the new kinds of a snapshot.
func (a *catalogPreload) run(ctx context.Context, s *Snapshot) {
	var fresh []string
	for _, kind := range s.Kinds() {
		if !a.known[kind] {
			a.known[kind], fresh = true, append(fresh, kind)
		}
	}
	if len(fresh) > 0 {
		a.learn(ctx, fresh)
	}
}
