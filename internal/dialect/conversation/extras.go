package conversation

import "sluice/internal/kernel/llm"

// maxExtras is the maximum number of extra fields of a stream that are stored for its end.
const maxExtras = 64

// AddUnknownField stores an extra field of a provider's stream, for shapes that send it at the end.
// A repeated field replaces the former one: Perplexity repeats its sources in each chunk. It copies
// the field and stores at most 64.
func AddUnknownField(list []llm.Param, ev *llm.Event) []llm.Param {
	for i := range list {
		if p := &list[i]; p.Name == ev.Name {
			p.Raw = append(p.Raw[:0], ev.Raw...)
			return list
		}
	}
	if len(list) < maxExtras {
		list = append(list, llm.Param{Name: ev.Name, Raw: append([]byte(nil), ev.Raw...)})
	}
	return list
}
