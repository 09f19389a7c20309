package pii

// ibanLengths maps countries to the length of their IBANs. Source: SWIFT, IBAN registry.
var ibanLengths = map[string]int{
	"AD": 24, "AE": 23, "AL": 28, "AT": 20, "AZ": 28, "BA": 20, "BE": 16, "BG": 22, "BH": 22, "BR": 29, "BY": 28, "CH": 21, "CR": 22, "CY": 28, "CZ": 24,
	"DE": 22, "DK": 18, "DO": 28, "EE": 20, "EG": 29, "ES": 24, "FI": 18, "FO": 18, "FR": 27, "GB": 22, "GE": 22, "GI": 23, "GL": 18, "GR": 27, "GT": 28,
	"HR": 21, "HU": 28, "IE": 22, "IL": 23, "IQ": 23, "IS": 26, "IT": 27, "JO": 30, "KW": 30, "KZ": 20, "LB": 28, "LC": 32, "LI": 21, "LT": 20, "LU": 20,
	"LV": 21, "LY": 25, "MC": 27, "MD": 24, "ME": 22, "MK": 19, "MR": 27, "MT": 31, "MU": 30, "NL": 18, "NO": 15, "PK": 24, "PL": 28, "PS": 29, "PT": 25,
	"QA": 29, "RO": 24, "RS": 22, "SA": 24, "SC": 31, "SD": 18, "SE": 24, "SI": 19, "SK": 24, "SM": 27, "ST": 25, "SV": 28, "TL": 23, "TN": 24, "TR": 26,
	"UA": 29, "VA": 22, "VG": 24, "XK": 20,
}

// ibanAt finds the IBAN that begins at i: the length of its country and valid check digits.
func (s *scanner) ibanAt(i int) (start, end int, ok bool) {
	if !s.startsToken(i) || i+ibanHead > len(s.text) {
		return 0, 0, false
	}
	var iban [maxIBANBytes]byte
	length := ibanLengths[s.text[i:i+2]]
	end = i
	for n := range length {
		if n > 0 && isIBANGap(s.byteAt(end)) {
			end++
		}
		b := s.byteAt(end)
		if !isDigit(b) && !isUpper(b) {
			return 0, 0, false
		}
		iban[n] = b
		end++
	}
	return i, end, length > 0 && s.endsToken(end) && isIBAN(iban[:length])
}

// Lengths of parts of an IBAN: its country and check digits come first.
const (
	ibanHead     = 4
	maxIBANBytes = 34
)

// isIBAN reports whether the check digits are valid. Source: ISO 7064, MOD 97-10.
func isIBAN(iban []byte) bool {
	rest := 0
	for i := range iban {
		rest = appendMod97(rest, iban[(i+ibanHead)%len(iban)])
	}
	return rest == 1
}

func isIBANGap(b byte) bool { return b == ' ' || b == '-' }

// appendMod97 appends a digit, or a letter as a number from 10 to 35, to a number modulo 97.
func appendMod97(rest int, b byte) int {
	if isDigit(b) {
		return (rest*10 + int(b-'0')) % 97
	}
	return (rest*100 + int(b-'A') + 10) % 97
}
