package pii

// digitRange is the number of digits of national numbers.
type digitRange struct{ low, high int }

// shortCodes are country codes of one and two digits. Source: ITU-T E.164, list of assigned codes, and
// the national numbering plans that ITU publishes.
var shortCodes = map[string]digitRange{
	"1": {10, 10}, "7": {10, 10}, "20": {8, 10}, "27": {9, 9}, "30": {10, 10}, "31": {9, 9}, "32": {8, 9}, "33": {9, 9}, "34": {9, 9},
	"36": {8, 9}, "39": {6, 11}, "40": {9, 9}, "41": {9, 9}, "43": {7, 13}, "44": {9, 10}, "45": {8, 8}, "46": {7, 9}, "47": {5, 8},
	"48": {9, 9}, "49": {6, 13}, "51": {8, 9}, "52": {10, 11}, "53": {6, 8}, "54": {10, 11}, "55": {10, 11}, "56": {8, 9}, "57": {8, 10},
	"58": {10, 10}, "60": {7, 10}, "61": {9, 9}, "62": {7, 12}, "63": {8, 10}, "64": {8, 10}, "65": {8, 8}, "66": {8, 9}, "81": {9, 10},
	"82": {8, 10}, "84": {9, 10}, "86": {9, 11}, "90": {10, 10}, "91": {10, 10}, "92": {9, 10}, "93": {9, 9}, "94": {9, 9}, "95": {7, 10}, "98": {10, 10},
}

// longCodes are country codes of three digits whose numbers differ from otherLong.
var longCodes = map[string]digitRange{
	"351": {9, 9}, "352": {5, 11}, "353": {7, 9}, "354": {7, 9}, "355": {8, 9}, "358": {5, 11}, "370": {8, 8}, "371": {8, 8}, "376": {6, 9},
	"377": {8, 9}, "420": {9, 9}, "421": {9, 9}, "423": {7, 9}, "500": {5, 5}, "507": {7, 8}, "508": {6, 6}, "590": {9, 9}, "593": {8, 9},
	"595": {9, 9}, "852": {8, 8}, "853": {8, 8}, "886": {8, 9}, "966": {8, 9}, "971": {8, 9}, "972": {8, 9},
}

// otherLong is the range of all other codes of three digits.
var otherLong = digitRange{6, 10}

// longPrefixes are the first two digits of the codes of three digits.
var longPrefixes = map[string]bool{
	"21": true, "22": true, "23": true, "24": true, "25": true, "26": true, "29": true, "35": true, "37": true, "38": true, "42": true,
	"50": true, "59": true, "67": true, "68": true, "69": true, "80": true, "85": true, "87": true, "88": true, "96": true, "97": true, "99": true,
}

// countryCode returns the length of the country code of a number and the range of what follows it; zeros
// without one.
func countryCode(number []byte) (code, low, high int) {
	if len(number) < 4 {
		return 0, 0, 0
	}
	for n := 1; n <= 2; n++ {
		if r, ok := shortCodes[string(number[:n])]; ok {
			return n, r.low, r.high
		}
	}
	if r, ok := longCodes[string(number[:3])]; ok {
		return 3, r.low, r.high
	}
	if longPrefixes[string(number[:2])] {
		return 3, otherLong.low, otherLong.high
	}
	return 0, 0, 0
}
