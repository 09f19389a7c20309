package access

// Ruled reports whether the table of people's rights has a line for a scope.
func Ruled(s Scope) bool { _, ok := ruleByScope[s]; return ok }
