package mail

// Variables are what a letter says.
func Variables(template string) []string { return variables[template] }
