package fault

// Rows is the number of lines in codes.json.
func Rows() int { return len(table) }
