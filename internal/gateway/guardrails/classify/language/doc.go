// Package language names the language of a text: its script decides where only one language uses it,
// and the trigram models of lingua decide among the languages of a script. It does not split texts of
// several languages; the language of most letters counts. Start reading at Detect.
//
// The models of lingua are loaded by script, when the first text of that script arrives: about 36 MB
// for the Latin script. They stay in memory. Its more accurate mode needs 700 MB and is not used.
package language
