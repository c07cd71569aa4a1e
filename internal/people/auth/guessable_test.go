package auth

import (
	"strings"
	"testing"
)

// Passwords that many people choose are rejected, even if they are long enough.
func TestCommonPasswordsAreRefused(t *testing.T) {
	t.Parallel()
	for p := range strings.FieldsSeq(`
		1234567890 0123456789 12345678910 123456789123 1234567891 9876543210 0987654321 1111111111 0000000000 1122334455
		1234554321 123123123123 1231231234 1029384756 1472583690 7894561230 7418529630 5555555555 qwertyuiop qwertyuiop123
		1q2w3e4r5t 1q2w3e4r5t6y q1w2e3r4t5 1qaz2wsx3edc 1qaz2wsx3e qazwsxedcrfv qazwsxedc123 zaq12wsxcde3 asdfghjkl123
		asdfghjkl; zxcvbnm123 zxcvbnm,./ qwerty123456 qwerty12345 qwert12345 12345qwert 123qweasdzxc qweasdzxc123
		qwe123qwe123 asdfasdfasdf asd123asd123 asdf123456 azertyuiop azerty12345 qwertzuiop password12 password123
		password1234 Password123 Password1! Password123! P@ssw0rd123 p@ssword12 passw0rd123 mypassword passwordpassword
		passwort123 password2024 letmein123 letmein1234 welcome123 Welcome2024 Welcome123! changeme123 changeme12 admin12345
		admin123456 adminadmin administrator root123456 test123456 testtest12 testing123 hello12345 hello123456 iloveyou12
		iloveyou123 iloveyou1234 iloveyou!! ilovey0u123 a123456789 123456789a q123456789 aa12345678 abc123abc123
		abcd123456 abcd1234567 abcdefghij abcdefghijk a1b2c3d4e5 a1s2d3f4g5 monkey1234 monkey123456 dragon1234 dragon12345
		football12 football123 baseball12 baseball123 basketball basketball1 superman123 batman1234 spiderman1 starwars12
		starwars123 pokemon123 princess12 princess123 sunshine12 sunshine123 sunshine1! butterfly1 butterfly12 chocolate1
		chocolate123 strawberry cheesecake cinderella snowflakes summer2023 Summer2024! winter2024 spring2020 autumn2022!
		october2019 monday1234 michael123 michael1985 jennifer12 jennifer1 jonathan12 christopher christine1 elizabeth1
		stephanie1 alexander1 jacqueline charlie123 jordan2323 daniel1990 liverpool1 liverpool12 manchester manchester1
		chelsea123 barcelona1 realmadrid1 juventus12 arsenal123 volkswagen mercedesbenz lamborghini ferrari123 mustang123
		playstation nintendo64 minecraft1 minecraft12 counterstrike warcraft123 california washington australia1
		metallica1 slipknot666 nirvana123 facebook123 google1234 samsung123 internet12 computer12 computer123 whatever12
		whatever123 trustno1trustno1 babygirl12 babygirl123 lovelove12 lovelove123 fuckyou123 fuckyou1234 motherfucker
		secret1234 master1234 shadow1234 shadow12345 killer1234 hunter2hunter2 19851985 01011990 01011990ab 24121985xx
		evangelion undertaker angelina12 nicole1234 jessica123 ashley1234 jordan1234 blink182182 987654321a zzzzzzzzzz
		aaaaaaaaaa abababababab 121212121212 112233445566`) {
		if len(p) >= MinPassword && !guessable(p) {
			t.Errorf("%s is accepted", p)
		}
	}
}

// The rules reject far more passwords than the ten thousand that everybody tries first.
func TestTheRulesMakeManyPasswords(t *testing.T) {
	t.Parallel()
	made := map[string]bool{}
	for _, w := range commonWords {
		for _, end := range []string{"", "1", "12", "123", "1234", "12345", "1!", "123!", "2024", "2025", "1985", "!!", "007", "69"} {
			for _, p := range []string{w + end, strings.ToUpper(w[:1]) + w[1:] + end, end + w} {
				if len(p) >= MinPassword {
					made[p] = true
				}
			}
		}
	}
	for _, row := range []string{"1234567890", "qwertyuiop", "asdfghjkl", "zxcvbnm", "abcdefghijklmnopqrstuvwxyz"} {
		for from := range row {
			for to := from + 3; to <= len(row); to++ {
				for _, end := range []string{"", "1", "123", "1234", "!", row[from:to], "2024"} {
					if p := row[from:to] + end; len(p) >= MinPassword {
						made[p] = true
					}
				}
			}
		}
	}
	accepted := 0
	for p := range made {
		if !guessable(p) {
			accepted++
			t.Logf("%s is accepted", p)
		}
	}
	if len(made) < 10_000 || accepted > 0 {
		t.Errorf("of %d common passwords %d are accepted", len(made), accepted)
	}
	t.Logf("%d common passwords, all refused", len(made))
}

// A password that is hard to guess is accepted, but not one that consists of the member's own
// words. If these words are not given, similar passwords are accepted, so the words make the
// difference.
func TestDecentPasswordsAreAccepted(t *testing.T) {
	t.Parallel()
	for _, p := range []string{
		"correct horse battery staple", "a sentence makes a good password", "made-up household", "Tr0ub4dor&3x", "xK9#mQ2vL7",
		"k7Wp-zR4n-Qe2v", "der Apfel fällt nicht weit", "пароль-дождь-окно", "another long password", "the first password",
		"we moved here in 2009", "blaue Tasse, leer", "vDf82kLq0z", "8fQz!rT2nB", "seventeen tired badgers", "ütwarz-Öl-42-kram",
	} {
		if guessable(p, "Robin Berger", "robin@example.com", "Household") {
			t.Errorf("%s is refused", p)
		}
	}
	about := []string{"Wilhelmina Ostrander", "mina.ost@pharmhouse.example", "The Quillfeathers"}
	for _, p := range []string{
		"Wilhelmina", "wilhelmina1", "Ostrander2024", "W1lhelm1na!!", "WilhelminaOstrander", "mina.ost@pharmhouse.example",
		"pharmhouse12", "quillfeathers", "TheQuillfeathers1", "ostranderostrander",
	} {
		if !guessable(p, about...) {
			t.Errorf("%s is accepted as the password of its member", p)
		}
	}
	if guessable("Ostrander quill 2024") || guessable("Quillfeathers-ost") {
		t.Error("the control is refused without the member's own words")
	}
}
