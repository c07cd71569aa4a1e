package reading

// IsIBAN reports whether the two check digits are right: the rearranged number modulo 97 must be 1.
// Letters must be capitals.
func IsIBAN(s string) bool {
	if len(s) < 15 || len(s) > 34 {
		return false
	}
	rest := 0
	for i := range s {
		c := s[(i+4)%len(s)]
		switch {
		case IsDigit(c):
			rest = (rest*10 + int(c-'0')) % 97
		case 'A' <= c && c <= 'Z':
			rest = (rest*100 + int(c-'A') + 10) % 97
		default:
			return false
		}
	}
	return rest == 1 && s[0] >= 'A' && s[1] >= 'A' && IsDigit(s[2]) && IsDigit(s[3])
}
