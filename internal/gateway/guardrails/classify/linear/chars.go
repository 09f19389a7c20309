package linear

// kind is the role of a byte in a text. Those outside of ASCII have none.
type kind uint8

const (
	space  kind = iota // white space, punctuation and control characters inside of sentences
	letter             // a to z, A to Z
	digit
	joined // ignored: the apostrophe
	sign   // may stand for a letter: "@"
	stop   // ends a sentence if white space follows
	mark   // is a word of its own
)

var kinds = func() (k [256]kind) {
	for c := range k {
		switch {
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
			k[c] = letter
		case c >= '0' && c <= '9':
			k[c] = digit
		}
	}
	k['\''] = joined
	k['@'], k['$'] = sign, sign
	k['.'], k['!'], k[';'], k['\n'] = stop, stop, stop, stop
	k['?'], k['"'] = mark, mark
	return k
}()

// standsFor maps characters to the letters that they replace in disguised words.
var standsFor = [256]byte{'0': 'o', '1': 'i', '2': 'z', '3': 'e', '4': 'a', '5': 's', '6': 'g', '7': 't', '8': 'b', '9': 'g', '@': 'a', '$': 's'}

// plainLetters maps letters to those without accents.
var plainLetters = func() map[rune]string {
	m := map[rune]string{'ß': "ss", 'æ': "ae", 'Æ': "ae", 'œ': "oe", 'Œ': "oe", 'ø': "o", 'Ø': "o", 'ł': "l", 'Ł': "l"}
	for plain, list := range map[string]string{
		"a": "àáâãäåāăąÀÁÂÃÄÅĀĂĄ", "c": "çćčÇĆČ", "d": "ďđĎĐ", "e": "èéêëēĕėęěÈÉÊËĒĖĘĚ", "g": "ğģĞĢ", "i": "ìíîïīįıÌÍÎÏĪĮİ",
		"k": "ķĶ", "l": "ĺļľĹĻĽ", "n": "ñńņňÑŃŅŇ", "o": "òóôõöōőÒÓÔÕÖŌŐ", "r": "ŕřŔŘ", "s": "śşšșŚŞŠȘ", "t": "ţťțŢŤȚ",
		"u": "ùúûüūůűųÙÚÛÜŪŮŰŲ", "y": "ýÿÝŸ", "z": "źżžŹŻŽ",
	} {
		for _, r := range list {
			m[r] = plain
		}
	}
	return m
}()
