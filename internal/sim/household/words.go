package household

// The words of invented names. Their order must not change, because a seed selects words by index.

var cities = []string{
	"Berlin", "Potsdam", "Berlin Mitte", "Hamburg", "Leipzig", "München", "Köln", "Berlin-Köpenick",
	"Dresden", "Düsseldorf", "Frankfurt a.M.", "Fürth", "Görlitz", "Neuruppin", "Hannover", "Nürnberg",
}

var surnames = []string{
	"Schmidt", "Yılmaz", "Krüger", "Nguyen", "Lindner", "Özdemir", "Bauer", "Kowalski", "Vogt", "Hoffmann", "Jäger",
	"Rossi", "Petrov", "Brandt", "Fuchs",
	"Sørensen", "Weiß", "Haddad", "Lorenz", "Kaya", "Dvořák", "Engel", "Nowak", "Sommer", "Papadopoulos", "Winkler",
	"Ivanova", "Groß", "Tran", "Ebert",
	"Martínez", "Böhm", "Al-Masri", "Keller", "Szabó", "Ziegler", "Conti", "Kühn", "O'Brien", "Horváth", "Frank",
	"Şahin", "Busch", "Wójcik", "Thomsen",
	"Ferrari", "Pohl", "Müller-Lüdenscheidt", "Sato", "Richter",
}

var given = []string{
	"Mia", "Paul", "Ayşe", "Luca", "Hannah", "Jonas", "Zoë", "Emil", "Giulia", "Piotr", "Léa", "Mehmet", "Frieda",
	"Noah", "Chloé", "Björn",
	"Sofía", "Oskar", "Elif", "Søren", "Marta", "Tomáš", "Leyla", "Anton", "Renée", "Igor", "Nele", "Dmitri", "Carla",
	"Jürgen",
}
