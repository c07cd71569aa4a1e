package auth

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Common passwords follow a few rules: a word or a name, neighboring keys, a date, and a digit or
// two at the end. guessable applies these rules instead of a list of passwords. So it rejects
// millions of passwords rather than ten thousand, and the project needs no copied list.

// The costs of the pieces of a password. To guess a piece of cost n, an attacker needs about 100^n
// tries. A password that costs less than enough is rejected.
const (
	costWord   = 2 // a word, a name, keys side by side
	costNumber = 2 // up to four digits
	costSmall  = 1 // a letter, a year, a date, two digits, punctuation
	enough     = 7
)

// guessable reports whether a password consists of a few pieces that everybody tries. The texts in
// about belong to the member: the name, the email address, the household.
func guessable(password string, about ...string) bool {
	s := []rune(strings.ToLower(password))
	if interleaved(s) {
		return true
	}
	words := ownWords(about)
	if unit := period(s); unit < len(s) { // a repetition costs little more than its unit
		return unit <= 4 || cheapest(s[:unit], words)+costSmall < enough
	}
	return cheapest(s, words) < enough
}

// cheapest returns the cost of the cheapest way to compose the password, from the common words and
// the member's own.
func cheapest(s []rune, own []string) int {
	best := make([]int, len(s)+1) // best[i] is the cost of the first i characters
	for i := range best {
		best[i] = i * costSmall // each character by itself, unless something below is cheaper
	}
	for at := range s {
		take := func(length, cost int) { best[at+length] = min(best[at+length], best[at]+cost) }
		take(1, costSmall)
		try := func(words []string) {
			for _, w := range words {
				if n := utf8.RuneCountInString(w); at+n <= len(s) && spells(s[at:at+n], w) {
					take(n, costWord)
				}
			}
		}
		try(own)
		try(byLetter[s[at]])
		for _, r := range looks[s[at]] {
			try(byLetter[r])
		}
		for n := 3; n <= walk(s[at:]); n++ {
			take(n, costWord)
		}
		digits := run(s[at:], unicode.IsDigit)
		for n := 2; n <= min(digits, 4); n++ {
			take(n, costNumber)
		}
		if digits >= 2 {
			take(2, costSmall)
		}
		for _, n := range []int{4, 6, 8} {
			if n <= digits && isDate(s[at:at+n]) {
				take(n, costSmall)
			}
		}
		for n := 2; n <= min(run(s[at:], mark), 3); n++ {
			take(n, costSmall)
		}
	}
	return best[len(s)]
}

// ownWords returns the texts that belong to the member, both complete and split into words.
func ownWords(about []string) []string {
	var out []string
	add := func(w string) {
		if utf8.RuneCountInString(w) >= 3 {
			out = append(out, w)
		}
	}
	for _, a := range about {
		a = strings.ToLower(a)
		add(a)
		add(strings.Join(strings.Fields(a), ""))
		apart := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }
		for _, part := range strings.FieldsFunc(a, apart) {
			add(part)
		}
	}
	return out
}

// looks maps a character to the letters that people replace with it.
var looks = map[rune]string{
	'0': "o", '1': "il", '3': "e", '4': "a", '5': "s", '7': "t", '8': "b", '9': "g",
	'@': "a", '$': "s", '!': "i", '+': "t",
}

// spells reports whether the characters are the word, or look like it.
func spells(s []rune, word string) bool {
	i := 0
	for _, w := range word {
		if s[i] != w && !strings.ContainsRune(looks[s[i]], w) {
			return false
		}
		i++
	}
	return true
}

func run(s []rune, is func(rune) bool) int {
	for i, r := range s {
		if !is(r) {
			return i
		}
	}
	return len(s)
}

// mark reports whether a character is neither a letter nor a digit nor a space.
func mark(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsSpace(r) }

// walk returns how many characters at the beginning form a chain: each is the same as the one
// before it, or next to it on a keyboard or in the alphabet.
func walk(s []rune) int {
	for i := 1; i < len(s); i++ {
		if !beside(s[i-1], s[i]) {
			return i
		}
	}
	return len(s)
}

func beside(a, b rune) bool {
	if a == b {
		return true
	}
	if d := b - a; (d == 1 || d == -1) && (unicode.IsDigit(a) && unicode.IsDigit(b) || letter(a) && letter(b)) {
		return true
	}
	if a == '9' && b == '0' || a == '0' && b == '9' || a == '0' && b == '1' {
		return true
	}
	return neighbors[[2]rune{a, b}]
}

func letter(r rune) bool { return 'a' <= r && r <= 'z' }

// neighbors are pairs of keys that touch on common keyboard layouts, in a row or diagonally between
// rows.
var neighbors = func() map[[2]rune]bool {
	out := map[[2]rune]bool{}
	join := func(a, b byte) { out[[2]rune{rune(a), rune(b)}], out[[2]rune{rune(b), rune(a)}] = true, true }
	for _, rows := range [][]string{
		{"1234567890-=", "qwertyuiop[]", "asdfghjkl;'", "zxcvbnm,./"},
		{"1234567890", "qwertzuiop", "asdfghjkl", "yxcvbnm,.-"},
		{"1234567890", "azertyuiop", "qsdfghjklm", "wxcvbn,;:"},
		{"!@#$%^&*()_+"},
	} {
		for i, row := range rows {
			for j := 1; j < len(row); j++ {
				join(row[j-1], row[j])
			}
			for j := 0; i > 0 && j < min(len(row), len(rows[i-1])); j++ {
				join(rows[i-1][j], row[j])
				if j+1 < len(rows[i-1]) {
					join(rows[i-1][j+1], row[j])
				}
			}
		}
	}
	return out
}()

// interleaved reports whether two walks alternate, as in a1b2c3d4.
func interleaved(s []rune) bool {
	var even, odd []rune
	for i, r := range s {
		if i%2 == 0 {
			even = append(even, r)
		} else {
			odd = append(odd, r)
		}
	}
	return len(odd) >= 4 && walk(even) == len(even) && walk(odd) == len(odd)
}

// period returns the length of the shortest text that s repeats; the last repetition may be cut
// off.
func period(s []rune) int {
	for n := 1; n <= len(s)/2; n++ {
		same := true
		for i := n; i < len(s) && same; i++ {
			same = s[i] == s[i-n]
		}
		if same {
			return n
		}
	}
	return len(s)
}

// isDate reports whether digits can be a year, or a day in one of the usual orders.
func isDate(s []rune) bool {
	number := func(from, to int) int {
		n := 0
		for _, r := range s[from:to] {
			n = n*10 + int(r-'0')
		}
		return n
	}
	day := func(a, b int) bool {
		return 1 <= a && a <= 31 && 1 <= b && b <= 12 || 1 <= b && b <= 31 && 1 <= a && a <= 12
	}
	year := func(n int) bool { return 1900 <= n && n <= 2099 }
	switch len(s) {
	case 4:
		return year(number(0, 4)) || day(number(0, 2), number(2, 4))
	case 6:
		return day(number(0, 2), number(2, 4)) || day(number(2, 4), number(4, 6))
	case 8:
		return day(number(0, 2), number(2, 4)) && year(number(4, 8)) ||
			year(number(0, 4)) && day(number(4, 6), number(6, 8))
	}
	return false
}

// byLetter holds the common words by their first letter.
var byLetter = func() map[rune][]string {
	out := map[rune][]string{}
	for _, w := range commonWords {
		out[rune(w[0])] = append(out[rune(w[0])], w)
	}
	return out
}()

// commonWords are the words that people build passwords from: words about signing in, love and
// games, names, months, places, brands.
var commonWords = strings.Fields(`
	password passwort passwd pass contrasena motdepasse parola haslo senha login logon signin secret geheim private
	admin administrator root user guest test tester testing demo default master system server access account change
	changeme letmein welcome willkommen bienvenue bienvenido welkom hello hallo bonjour hola ciao computer internet
	keyboard network security secure online email google facebook twitter youtube instagram yahoo hotmail gmail
	samsung apple iphone android microsoft windows linux ubuntu sony nokia dell lenovo amazon netflix spotify paypal
	trustno qwerty qwertz azerty asdf zxcv qaz wsx edc qazwsx wsxedc edcrfv qweasd asdzxc abc abcd xyz iloveyou loveyou love lovely lover amor amour liebe
	schatz teamo tequiero baby babygirl babyboy angel angels honey sweet sweety sweetie sugar kiss kisses heart hearts
	forever always never whatever nothing something someone everyone anything mylove mybaby family mother father mommy
	daddy mama papa sister brother friend friends bestfriend girl boy girls boys woman man king queen prince princess
	princesa princesse prinzessin diamond crystal silver gold golden platinum money dollar rich million lucky magic
	monkey dragon tiger lion bear wolf eagle falcon hawk snake spider shark dolphin horse pony dog doggy puppy cat kitty
	kitten bunny rabbit turtle panda butterfly flower flowers rose roses sunflower daisy lily orchid rainbow sunshine
	sunset moonlight moon star stars starlight sky heaven ocean river mountain forest summer winter spring autumn fall
	sommer fruhling herbst snow snowflake snowflakes snowball rain storm thunder lightning fire ice blue green red
	black white yellow orange purple pink brown grey color colour
	january february march april may june july august september october november december januar februar marz mai juni
	juli oktober dezember janvier fevrier mars avril juin juillet aout septembre octobre novembre decembre enero
	febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre
	monday tuesday wednesday thursday friday saturday sunday montag dienstag mittwoch donnerstag freitag samstag sonntag
	football fussball futbol soccer baseball basketball hockey tennis golf rugby cricket volleyball swimming running
	cycling skater surfer boxing wrestling chess poker casino player gamer game games gaming minecraft fortnite roblox
	pokemon pikachu naruto zelda mario sonic playstation nintendo xbox warcraft starcraft counter strike counterstrike
	halo diablo sims starwars star wars startrek matrix batman superman spiderman ironman avengers marvel joker
	hunter killer ninja samurai warrior soldier ranger knight wizard shadow ghost phantom vampire zombie demon devil
	satan hell god jesus christ church bless blessed faith hope grace freedom peace
	liverpool arsenal chelsea manchester united city barcelona madrid realmadrid juventus milan inter bayern munich
	dortmund celtic rangers everton newcastle tottenham yankees redsox lakers cowboys steelers packers patriots
	london paris berlin madrid rome roma vienna wien zurich dublin moscow amsterdam brussels lisbon athens istanbul
	newyork york boston chicago dallas houston texas florida california washington canada america american england
	english germany deutschland france espana italia italy ireland scotland australia brasil brazil mexico china japan
	india pakistan russia poland polska europe africa asia world earth
	ferrari porsche mercedes benz audi toyota honda nissan ford mustang corvette camaro chevy dodge jeep harley yamaha
	suzuki ducati volkswagen lamborghini bugatti maserati tesla
	metallica nirvana slipknot eminem beatles queen elvis madonna beyonce rihanna bieber blink linkin park green day
	rockstar music guitar piano drummer dancer dance singer rock metal punk techno
	chocolate cookie cookies cheese cheesecake banana apple cherry strawberry blueberry lemon melon peach coconut
	pepper ginger butter bacon pizza burger coffee beer whiskey vodka wine tequila candy cupcake
	school college university student teacher doctor nurse police fireman pilot captain sailor marine army navy
	cinderella undertaker evangelion maverick phoenix merlin gandalf hobbit matrix trinity neo
	fuckyou fuckme fuck fucker motherfucker bitch asshole bastard pussy dick sexy sexygirl sexyboy porn hardcore
	badboy badgirl crazy stupid idiot loser winner champion number one two three four five six seven eight nine zero
	your the you and not big little old new best cool super mega ultra turbo happy good bad
	michael jennifer jessica ashley amanda joshua daniel david matthew andrew christopher justin brandon ryan nicholas
	anthony william james john robert joseph thomas charles charlie george richard steven stephen kevin brian jason
	jeff jeffrey eric adam aaron nathan jordan tyler kyle dylan austin cody alex alexander alexandra alexis samuel
	samantha benjamin jonathan patrick peter paul mark martin simon oliver harry jack jake luke lucas leo max maximus
	felix oscar oskar hannah anna emma sophie sophia julia laura lisa sarah sara maria marie mary michelle melissa
	nicole stephanie elizabeth heather rebecca rachel amber brittany danielle kimberly tiffany crystal vanessa natalie
	victoria veronica angela angelina christina christine catherine katherine kathryn patricia barbara susan linda
	karen nancy betty sandra donna carol sharon jacqueline caroline charlotte chloe olivia amelia isabella mia ava lucy
	grace lily ella zoe molly megan lauren hailey bailey taylor morgan robin kim andrea claudia sabine petra stefan
	thorsten sebastian tobias florian dominik fabian philipp lukas jonas tim tom ben jan lars sven nina lena lea
	carlos juan jose luis miguel antonio francisco manuel pedro pablo diego fernando alejandro roberto ricardo mario
	marco luca matteo giovanni francesco giuseppe andrea paolo chiara giulia valentina martina federica pierre jean
	michel francois nicolas camille julien antoine ivan dmitri sergei vladimir natasha olga irina anastasia svetlana
	mohamed mohammed muhammad ahmed ali hassan hussein fatima aisha omar yusuf ibrahim kumar singh sharma patel priya
	raj ravi anita chen wang zhang lin nguyen tran kim lee park tanaka suzuki yamada sakura hiroshi
`)
