package dialect

import "sluice/internal/llm"

// maxExtras is how many extras of a stream are kept for its end.
const maxExtras = 64

// AddUnknownField keeps what else a provider says in a stream, for shapes that tell it at the end:
// said again, as Perplexity says its sources in each chunk, it takes the place of the former.
// It copies what it keeps; more than 64 of them are not kept.
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
