package prompt

// CheckCycle fails when partials that refs name include, however far down, the one that self
// knows, or lie deeper in one another than may be filled in: fault.InvalidParameter that
// names the partial at which it shows. It is asked before a version is published, because
// that would stop every prompt that includes it.
func CheckCycle(refs []PartialRef, source Source, self func(PartialRef) bool) error {
	c := circle{source: source, self: self, height: make(map[PartialRef]int)}
	_, err := c.walk(refs, 1)
	return err
}

type circle struct {
	source Source
	self   func(PartialRef) bool
	height map[PartialRef]int // of what was looked at: partials inside it, one in another
}

func (c *circle) walk(refs []PartialRef, depth int) (height int, err error) {
	for _, ref := range refs {
		if c.self(ref) {
			return 0, invalid("the version includes itself through {{>%s}}", clip(ref.String())).WithParam("version")
		}
		h, known := c.height[ref]
		if !known {
			if h, err = c.into(ref, depth); err != nil {
				return 0, err
			}
			c.height[ref] = h
		}
		if depth+h >= MaxPartialDepth {
			return 0, invalid("partials are nested deeper than %d levels, at {{>%s}}", MaxPartialDepth, clip(ref.String())).WithParam("version")
		}
		height = max(height, h+1)
	}
	return height, nil
}

func (c *circle) into(ref PartialRef, depth int) (int, error) {
	if depth >= MaxPartialDepth {
		return 0, nil // walk refuses it
	}
	t, err := c.source.Partial(ref)
	if err != nil {
		return 0, err
	}
	return c.walk(t.partials, depth+1)
}
