package routing

// Config is a parsed gateway config. It is immutable and safe for concurrent use. Callers
// parse a document once and cache the result.
type Config struct {
	// Root is the top of the tree; its Path is "config". Never nil.
	Root *Node

	leaves []*Target
	hash   uint64 // of the document; separates the Engine state of configs
}

// Leaves returns every target of the tree in document order, for example to find the providers
// that a config names. The slice belongs to the Config.
func (c *Config) Leaves() []*Target { return c.leaves }

// Node is one object of the config document: a branch with a strategy and targets, or a leaf.
// Exactly one of Strategy and Target is set.
type Node struct {
	Path     string    // "config", "config.targets[0].targets[2]": indexes in the document, even if a breaker excludes targets
	Name     string    // referenced by conditions; may be empty
	Weight   float64   // share in a loadbalance, 1 if the document gives none; 0 takes the node out of rotation
	Strategy *Strategy // nil for a leaf
	Targets  []*Node   // at least one in a branch, nil in a leaf
	Target   *Target   // nil for a branch

	index      int  // position in the parent's targets
	hasBreaker bool // the node, or a leaf below it, has a circuit breaker
}

// Single returns a config with one leaf, as described by the request headers. An empty Path
// becomes "config". It takes ownership of t's slices and maps.
func Single(t Target) *Config {
	if t.Path == "" {
		t.Path = rootPath
	}
	s := &struct { // one allocation, because this runs for every request without a config
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
