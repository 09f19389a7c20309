package routing

// Config is a parsed gateway config. It is never changed after Parse or Single
// returned it and is safe for concurrent use; callers parse once and keep it.
type Config struct {
	// Root is the top of the tree; its Path is "config". Never nil.
	Root *Node

	leaves []*Target
	hash   uint64 // of the document; keeps what an Engine remembers of one config from another
}

// Leaves lists every target of the tree in document order, for example to learn
// which providers a config names. The slice belongs to the Config.
func (c *Config) Leaves() []*Target { return c.leaves }

// Node is one object of the config document: a branch with a strategy and
// targets, or a leaf. Exactly one of Strategy and Target is set.
type Node struct {
	Path     string    // "config", "config.targets[0].targets[2]": positions in the document, whatever a breaker filters out
	Name     string    // what conditions refer to; may be empty
	Weight   float64   // share in a loadbalance, 1 when the document gives none; 0 takes the node out of rotation
	Strategy *Strategy // nil for a leaf
	Targets  []*Node   // at least one in a branch, nil in a leaf
	Target   *Target   // nil for a branch

	index      int  // position in the parent's targets
	hasBreaker bool // the node, or a leaf below it, has a circuit breaker
}

// Single makes a config of one leaf, as the request headers describe it. An empty
// Path becomes "config". It takes over t's slices and maps.
func Single(t Target) *Config {
	if t.Path == "" {
		t.Path = rootPath
	}
	s := &struct { // one allocation: this runs for every request without a config
		config Config
		root   Node
		target Target
		leaves [1]*Target
	}{target: t}
	s.leaves[0] = &s.target
	s.root = Node{Path: t.Path, Weight: 1, Target: &s.target, hasBreaker: t.Breaker != nil}
	s.config = Config{Root: &s.root, leaves: s.leaves[:]}
	return &s.config
}

const rootPath = "config"
