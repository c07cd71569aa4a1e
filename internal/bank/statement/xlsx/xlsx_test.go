package xlsx

import "testing"

// Numbers are read as a workbook shows them, without the noise of binary fractions.
func TestNumber(t *testing.T) {
	t.Parallel()
	for v, want := range map[string]string{
		"23.15": "23.15", "23.149999999999999": "23.15", "-23.149999999999999": "-23.15", "1E-2": "0.01",
		"1.2345E3": "1234.5", "-0.05": "-0.05", "1234": "1234", "1.234": "1.2340", "9.9999999999999999": "10",
		"0": "0", "12.500": "12.5", "": "", "abc": "abc", "1E400": "1E400", "0.30000000000000004": "0.3",
		"20260302000000000000": "20260302000000000000", "1.0E0": "1", "-": "-", ".5": "0.5",
	} {
		if got := number(v); got != want {
			t.Errorf("%s is %s, want %s", v, got, want)
		}
	}
}

// A format shows a date if it contains a day or a year outside quotes and brackets.
func TestIsDate(t *testing.T) {
	t.Parallel()
	for format, want := range map[string]bool{
		"dd/mm/yyyy": true, "[$-409]d-mmm-yy;@": true, "yyyy\\-mm\\-dd": true, "#,##0.00": false,
		`0.00 "days"`: false, "[Red]0.00": false, "General": false, "h:mm": false, "mmm yy": true,
	} {
		if isDate(format) != want {
			t.Errorf("%s: %v", format, !want)
		}
	}
}
