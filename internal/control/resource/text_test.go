package resource_test

import (
	"fmt"
	"testing"

	"sluice/internal/control/resource"
)

func TestNamesHaveNoHiddenCharacters(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"Team", "Équipe", "Команда", "家族", "👨\u200d👩\u200d👧", "🏳️\u200d🌈", "👩🏽\u200d💻", "❤️\u200d🔥", "می\u200cخواهم", "ക്\u200d", "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f", "\u0600 7", "é e\u0301",
	} {
		if problem := resource.CheckName("name", name); problem != "" {
			t.Errorf("%+q: %s", name, problem)
		}
	}
	hidden := []rune{0x00AD, 0x034F, 0x061C, 0x115F, 0x180E, 0x200B, 0x200C, 0x200D, 0x2060, 0x2064, 0x3164, 0xFEFF, 0xFFA0, 0xFFF9, 0x2028, 0x2029, 0xE0001, 0xE0041}
	for r := rune(0x202A); r <= 0x202E; r++ {
		hidden = append(hidden, r)
	}
	for r := rune(0x2066); r <= 0x2069; r++ {
		hidden = append(hidden, r)
	}
	for _, r := range append(hidden, 0x200E, 0x200F) {
		for _, form := range []string{"%c", "pay%cpal", "%cTeam", "Team%c"} {
			if name := fmt.Sprintf(form, r); resource.CheckName("first_name", name) == "" {
				t.Errorf("%+q is accepted", name)
			}
		}
	}
}
