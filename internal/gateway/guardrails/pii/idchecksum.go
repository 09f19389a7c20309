package pii

import "strings"

// weighted returns the sum of the digits times their weights.
func weighted(id []byte, weights ...int) int {
	sum := 0
	for i, w := range weights {
		sum += int(id[i]-'0') * w
	}
	return sum
}

// value returns digits as a number.
func value(digits []byte) int {
	n := 0
	for _, d := range digits {
		n = n*10 + int(d-'0')
	}
	return n
}

// isDate6 reports whether month and day, at these positions, are possible.
func isDate6(id []byte, month, day int) bool {
	m, d := value(id[month:month+2]), value(id[day:day+2])
	return m >= 1 && m <= 12 && d >= 1 && d <= 31
}

// isGermanTaxID: ISO 7064 MOD 11,10; one digit occurs two or three times among the first ten.
// Source: Bundeszentralamt für Steuern, Steueridentifikationsnummer.
func isGermanTaxID(id []byte) bool {
	if id[0] == '0' {
		return false
	}
	var seen [10]int
	product, repeated := 10, 0
	for _, d := range id[:10] {
		if seen[d-'0']++; seen[d-'0'] > 1 {
			repeated++
		}
		sum := (int(d-'0') + product) % 10
		if sum == 0 {
			sum = 10
		}
		product = sum * 2 % 11
	}
	return repeated >= 1 && repeated <= 2 && (11-product)%10 == int(id[10]-'0')
}

const dniLetters = "TRWAGMYFPDXBNJZSQVHLCKE"

// isSpanishDNI: the letter is the number modulo 23. Source: Real Decreto 1553/2005.
func isSpanishDNI(id []byte) bool { return dniLetters[value(id[:8])%23] == id[8] }

// isSpanishNIE: X, Y and Z stand for 0, 1 and 2.
func isSpanishNIE(id []byte) bool {
	first := strings.IndexByte("XYZ", id[0])
	number := value(id[1:8])
	return first >= 0 && number > 0 && dniLetters[(first*10_000_000+number)%23] == id[8]
}

// isFrenchNIR: 97 minus the number modulo 97. Source: INSEE, numéro d'inscription au répertoire.
func isFrenchNIR(id []byte) bool {
	month := value(id[3:5])
	return (id[0] == '1' || id[0] == '2') && (month >= 1 && month <= 12 || month >= 20) && 97-value(id[:13])%97 == value(id[13:])
}

// oddValues are the values of characters at odd positions. Source: Decreto ministeriale 23 December 1976.
var oddValues = [36]int{
	1, 0, 5, 7, 9, 13, 15, 17, 19, 21,
	1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23,
}

func isItalianCode(id []byte) bool {
	sum := 0
	for i, c := range id[:15] {
		v := int(c - '0')
		if isUpper(c) {
			v = int(c - 'A')
			if i%2 == 0 {
				v += 10
			}
		}
		if i%2 == 0 {
			v = oddValues[v]
		}
		sum += v
	}
	return int(id[15]-'A') == sum%26
}

// isBritishNINO: there is no check digit, but letters that are not used. Source: HMRC manual NIM39110.
func isBritishNINO(id []byte) bool {
	prefix := string(id[:2])
	return !strings.ContainsAny(prefix, "DFIQUV") && id[1] != 'O' && !strings.Contains("BG GB NK KN TN NT ZZ", prefix) && id[8] <= 'D'
}

// isBritishNHS: weights 10 to 2, modulo 11. Source: NHS Data Dictionary, NHS NUMBER.
func isBritishNHS(id []byte) bool {
	check := (11 - weighted(id, 10, 9, 8, 7, 6, 5, 4, 3, 2)%11) % 11
	return id[0] != '0' && check == int(id[9]-'0')
}

// isDutchBSN: weights 9 to 2 and -1, modulo 11. Source: Rijksdienst voor Identiteitsgegevens.
func isDutchBSN(id []byte) bool {
	return value(id) > 0 && weighted(id, 9, 8, 7, 6, 5, 4, 3, 2, -1)%11 == 0
}

// isBelgianNumber: 97 minus the number modulo 97; from 2000 on with a leading 2.
// Source: Rijksregister, Koninklijk besluit 3 April 1984.
func isBelgianNumber(id []byte) bool {
	number, check := value(id[:9]), value(id[9:])
	return isDate6(id, 2, 4) && (97-number%97 == check || 97-(2_000_000_000+number)%97 == check)
}

// isPolishPESEL: weights 1, 3, 7, 9. Source: Ustawa o ewidencji ludności.
func isPolishPESEL(id []byte) bool {
	month := value(id[2:4]) % 20
	return month >= 1 && month <= 12 && value(id[4:6]) <= 31 && weighted(id, 1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1)%10 == 0
}

// isSwedishNumber: Luhn. Source: Skatteverket, SKV 704.
func isSwedishNumber(id []byte) bool {
	ten := id[len(id)-10:]
	return isDate6(ten, 2, 4) && isLuhn(ten)
}

// isFinnishCode: date and serial modulo 31. Source: Digi- ja väestötietovirasto.
func isFinnishCode(id []byte) bool {
	if len(id) == 11 { // with the letter of the century
		id = append(append([]byte(nil), id[:6]...), id[7:]...)
	}
	return isDate6(id, 2, 0) && "0123456789ABCDEFHJKLMNPRSTUVWXY"[value(id[:9])%31] == id[9]
}

// isSwissNumber: EAN-13. Source: Zentrale Ausgleichsstelle, AHV-Nummer.
func isSwissNumber(id []byte) bool {
	return string(id[:3]) == "756" && weighted(id, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1)%10 == 0
}

// isPortugueseNIF: weights 9 to 2, modulo 11. Source: Decreto-Lei 14/2013.
func isPortugueseNIF(id []byte) bool {
	check := 11 - weighted(id, 9, 8, 7, 6, 5, 4, 3, 2)%11
	if check > 9 {
		check = 0
	}
	return strings.IndexByte("12356789", id[0]) >= 0 && check == int(id[8]-'0')
}

// isBrazilianCPF: two check digits modulo 11. Source: Receita Federal.
func isBrazilianCPF(id []byte) bool {
	first := weighted(id, 10, 9, 8, 7, 6, 5, 4, 3, 2) * 10 % 11 % 10
	second := weighted(id, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2) * 10 % 11 % 10
	return first == int(id[9]-'0') && second == int(id[10]-'0') && strings.Trim(string(id), string(id[:1])) != ""
}

// isChileanRUT: weights 2 to 7 from the right, modulo 11. Source: Servicio de Impuestos Internos.
func isChileanRUT(id []byte) bool {
	sum, weight := 0, 2
	for i := len(id) - 2; i >= 0; i-- {
		sum += int(id[i]-'0') * weight
		if weight++; weight > 7 {
			weight = 2
		}
	}
	return "0123456789K0"[11-sum%11] == id[len(id)-1]
}

// isArgentineCUIT: weights 5, 4, 3, 2, 7 to 2, modulo 11. Source: AFIP.
func isArgentineCUIT(id []byte) bool {
	check := (11 - weighted(id, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2)%11) % 11
	return strings.Contains("20 23 24 27 30 33 34", string(id[:2])) && check == int(id[10]-'0')
}

// isMexicanCURP: base 37 with Ñ, weights 18 to 2. Source: RENAPO, Diario Oficial 18 October 2021.
func isMexicanCURP(id []byte) bool {
	sum := 0
	for i, c := range id[:17] {
		v := int(c - '0')
		if isUpper(c) {
			if v = int(c-'A') + 10; c > 'N' {
				v++
			}
		}
		sum += v * (18 - i)
	}
	return isDate6(id, 6, 8) && (id[10] == 'H' || id[10] == 'M' || id[10] == 'X') && (10-sum%10)%10 == int(id[17]-'0')
}

// isCanadianSIN: Luhn; 0 and 8 are not assigned. Source: Government of Canada, Social Insurance Number.
func isCanadianSIN(id []byte) bool { return id[0] != '0' && id[0] != '8' && isLuhn(id) }

// isAustralianTFN: weights modulo 11. Source: Australian Taxation Office.
func isAustralianTFN(id []byte) bool {
	return value(id) > 0 && weighted(id, 1, 4, 3, 7, 5, 8, 6, 9, 10)%11 == 0
}

// Tables of Verhoeff's scheme. Source: J. Verhoeff, Error Detecting Decimal Codes, 1969.
var (
	verhoeffProduct = [10][10]uint8{
		{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, {1, 2, 3, 4, 0, 6, 7, 8, 9, 5}, {2, 3, 4, 0, 1, 7, 8, 9, 5, 6}, {3, 4, 0, 1, 2, 8, 9, 5, 6, 7},
		{4, 0, 1, 2, 3, 9, 5, 6, 7, 8}, {5, 9, 8, 7, 6, 0, 4, 3, 2, 1}, {6, 5, 9, 8, 7, 1, 0, 4, 3, 2}, {7, 6, 5, 9, 8, 2, 1, 0, 4, 3},
		{8, 7, 6, 5, 9, 3, 2, 1, 0, 4}, {9, 8, 7, 6, 5, 4, 3, 2, 1, 0},
	}
	verhoeffPermutation = [8][10]uint8{
		{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, {1, 5, 7, 6, 2, 8, 3, 0, 9, 4}, {5, 8, 0, 3, 7, 9, 6, 1, 4, 2}, {8, 9, 1, 6, 0, 4, 3, 5, 2, 7},
		{9, 4, 5, 3, 1, 2, 6, 8, 7, 0}, {4, 2, 8, 6, 5, 7, 3, 9, 0, 1}, {2, 7, 9, 3, 8, 0, 6, 4, 1, 5}, {7, 0, 4, 6, 9, 1, 3, 2, 5, 8},
	}
)

// isIndianAadhaar: Verhoeff; the first digit is 2 to 9. Source: UIDAI.
func isIndianAadhaar(id []byte) bool {
	c := uint8(0)
	for i := range id {
		c = verhoeffProduct[c][verhoeffPermutation[i%8][id[len(id)-1-i]-'0']]
	}
	return id[0] >= '2' && c == 0
}

// isIndianPAN: the fourth letter is the kind of holder. Source: Income Tax Department.
func isIndianPAN(id []byte) bool { return strings.IndexByte("ABCFGHJLPT", id[3]) >= 0 }
