package textfold

// lookAlikes maps letters of other scripts to the Latin letters that they look like.
// Source: Unicode Technical Standard 39, confusables.txt (the pairs of Cyrillic, Greek and Armenian
// letters with ASCII), and the Latin letters of phonetic alphabets.
var lookAlikes = map[rune]string{
	// Cyrillic
	'а': "a", 'в': "b", 'с': "c", 'ԁ': "d", 'е': "e", 'ё': "e", 'һ': "h", 'і': "i", 'ї': "i", 'ј': "j", 'к': "k", 'ӏ': "l", 'м': "m", 'о': "o", 'р': "p",
	'ԛ': "q", 'г': "r", 'ѕ': "s", 'т': "t", 'ц': "u", 'ѵ': "v", 'ԝ': "w", 'х': "x", 'у': "y",
	'А': "A", 'В': "B", 'С': "C", 'Е': "E", 'Ё': "E", 'Н': "H", 'І': "I", 'Ї': "I", 'Ј': "J", 'К': "K", 'М': "M", 'О': "O", 'Р': "P", 'Ѕ': "S", 'Т': "T",
	'Ѵ': "V", 'Ԝ': "W", 'Х': "X", 'У': "Y", 'Ԛ': "Q", 'Ӏ': "I",
	// Greek
	'α': "a", 'β': "b", 'γ': "y", 'ε': "e", 'η': "n", 'ι': "i", 'κ': "k", 'ν': "v", 'ο': "o", 'ρ': "p", 'τ': "t", 'υ': "u", 'χ': "x", 'ω': "w", 'ϲ': "c", 'ϳ': "j",
	'Α': "A", 'Β': "B", 'Ε': "E", 'Ζ': "Z", 'Η': "H", 'Ι': "I", 'Κ': "K", 'Μ': "M", 'Ν': "N", 'Ο': "O", 'Ρ': "P", 'Τ': "T", 'Υ': "Y", 'Χ': "X",
	// Armenian
	'ո': "n", 'ս': "u", 'օ': "o", 'հ': "h", 'ց': "g", 'զ': "q", 'Օ': "O", 'Ս': "U", 'Լ': "L",
	// Latin letters that look like others
	'ı': "i", 'ɑ': "a", 'ɡ': "g", 'ɩ': "i", 'ʟ': "l", 'ᴀ': "a", 'ʙ': "b", 'ᴄ': "c", 'ᴅ': "d", 'ᴇ': "e", 'ꜰ': "f", 'ɢ': "g", 'ʜ': "h", 'ɪ': "i", 'ᴊ': "j", 'ᴋ': "k",
	'ᴍ': "m", 'ɴ': "n", 'ᴏ': "o", 'ᴘ': "p", 'ʀ': "r", 'ꜱ': "s", 'ᴛ': "t", 'ᴜ': "u", 'ᴠ': "v", 'ᴡ': "w", 'ʏ': "y", 'ᴢ': "z", 'ø': "o", 'Ø': "O",
}
