package language

import "unicode"

// script is a writing system, or a group of them that one language combines.
type script int

const (
	other script = iota // letters of scripts that no supported language uses
	latin
	cyrillic
	arabic
	devanagari
	han
	kana
	hangul
	thai
	hebrew
	bengali
	greek
	tamil
	telugu
	kannada
	scripts // number of scripts
)

// single maps scripts to the only supported language that uses them.
var single = map[script]string{
	hangul: "kor_Hang", kana: "jpn_Jpan", thai: "tha_Thai", hebrew: "heb_Hebr", bengali: "ben_Beng", greek: "ell_Grek",
	tamil: "tam_Taml", telugu: "tel_Telu", kannada: "kan_Knda",
}

// block is a range of characters of one script.
type block struct {
	from, to rune
	script   script
}

// blocks are in the order of their characters. Source: Unicode 15, Blocks.txt.
var blocks = []block{
	{'A', 0x024F, latin}, {0x0370, 0x03FF, greek}, {0x0400, 0x052F, cyrillic}, {0x0590, 0x05FF, hebrew}, {0x0600, 0x077F, arabic},
	{0x0900, 0x097F, devanagari}, {0x0980, 0x09FF, bengali}, {0x0B80, 0x0BFF, tamil}, {0x0C00, 0x0C7F, telugu}, {0x0C80, 0x0CFF, kannada},
	{0x0E00, 0x0E7F, thai}, {0x1100, 0x11FF, hangul}, {0x1E00, 0x1EFF, latin}, {0x1F00, 0x1FFF, greek}, {0x3040, 0x30FF, kana},
	{0x3130, 0x318F, hangul}, {0x3400, 0x4DBF, han}, {0x4E00, 0x9FFF, han}, {0xAC00, 0xD7A3, hangul}, {0xFB50, 0xFDFF, arabic}, {0xFE70, 0xFEFF, arabic},
}

// scriptOf returns the script of a letter; false for other characters.
func scriptOf(r rune) (script, bool) {
	if r < 'A' || !unicode.IsLetter(r) {
		return other, false
	}
	for _, b := range blocks {
		if r <= b.to {
			if r >= b.from {
				return b.script, true
			}
			break
		}
	}
	return other, true
}

// census counts the letters of a text by script.
type census struct {
	letters     [scripts]int
	total       int
	traditional int // Chinese characters that only the traditional script has
	simplified  int
}

func count(text string) census {
	var c census
	for _, r := range text {
		s, ok := scriptOf(r)
		if !ok {
			continue
		}
		c.letters[s]++
		c.total++
		if s == han {
			c.traditional += has(traditionalOnly, r)
			c.simplified += has(simplifiedOnly, r)
		}
	}
	return c
}

func has(set map[rune]bool, r rune) int {
	if set[r] {
		return 1
	}
	return 0
}

// main returns the script of most letters. A Chinese or Japanese letter counts twice: it stands for
// about two letters of an alphabet. Any kana make Chinese characters Japanese.
func (c *census) main() script {
	n := c.letters
	if n[kana] > 0 && n[kana]*8 >= n[han] {
		n[kana], n[han] = n[kana]+n[han], 0
	}
	n[kana], n[han] = 2*n[kana], 2*n[han]
	best := latin
	for s := range n {
		if n[s] > n[best] {
			best = script(s)
		}
	}
	return best
}

// Frequent characters that differ between the two Chinese scripts, in the same order.
const (
	simplifiedSigns  = "们这个来时说国为会对过还没样开关见长门问间东车马鸟鱼龙书画学习写读讲话语请谢让认识应该头买卖钱电视机业产动务员发经济总级组织统结给绝网红约纪级练难题预须领风飞饭馆饮银铁错锁键镇队阳阴际陆险随雾声听职联护报担拥择挥损换据热爱现环实宝审宽对导岁当归录"
	traditionalSigns = "們這個來時說國為會對過還沒樣開關見長門問間東車馬鳥魚龍書畫學習寫讀講話語請謝讓認識應該頭買賣錢電視機業產動務員發經濟總級組織統結給絕網紅約紀級練難題預須領風飛飯館飲銀鐵錯鎖鍵鎮隊陽陰際陸險隨霧聲聽職聯護報擔擁擇揮損換據熱愛現環實寶審寬對導歲當歸錄"
)

var simplifiedOnly, traditionalOnly = onlyIn(simplifiedSigns, traditionalSigns), onlyIn(traditionalSigns, simplifiedSigns)

// onlyIn returns the characters of one list that the other does not have.
func onlyIn(list, without string) map[rune]bool {
	set := make(map[rune]bool)
	for _, r := range list {
		set[r] = true
	}
	for _, r := range without {
		delete(set, r)
	}
	return set
}
