package archive

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"
	"time"
	"unicode/utf8"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/pg"
	"coffer/internal/settings"
	"filippo.io/age"
)

// A Lock encrypts a backup: with a passphrase, or with the public keys of the people who may open
// it.
type Lock struct {
	Passphrase string
	Recipients []string // age1…
	Identities string   // path of an age-keygen file, to open a backup
	Open       bool     // not encrypted: the storage of the file encrypts it
}

// A Way describes how to write a backup.
type Way struct {
	Lock Lock
	// Uncompressed writes the same bytes for the same rows. So a backup program that stores equal
	// pieces only once needs space only for the changes since the last backup.
	Uncompressed bool
	Scheduled    bool          // written by a server, not by a command
	Every        time.Duration // time between scheduled backups
}

// minPassphrase is the minimum length of a passphrase, in characters.
const minPassphrase = 12

// scryptWork makes guessing a passphrase expensive: 2^17 costs 128 MiB and some tenths of a second.
// Each backup pays that price once.
const scryptWork = 17

// recipients returns the keys that encrypt a backup, and spare, which opens it for the check after
// writing. With public keys alone this program could not open the backup, so a temporary key is
// added that exists only during the call.
func (l Lock) recipients() (to []age.Recipient, spare age.Identity, err error) {
	switch {
	case l.Open:
		return nil, nil, nil
	case l.Passphrase != "" && len(l.Recipients) > 0:
		return nil, nil, errs.New(errs.ValidationError, "pass either a passphrase or recipients, not both")
	case l.Passphrase != "" && utf8.RuneCountInString(l.Passphrase) < minPassphrase:
		return nil, nil, errs.New(errs.ValidationError,
			"the passphrase must have at least %d characters, because anyone with the file can try "+
				"passphrases without limit; use five random words", minPassphrase)
	case l.Passphrase != "":
		to, err := age.NewScryptRecipient(l.Passphrase)
		if err != nil {
			return nil, nil, fmt.Errorf("passphrase: %w", err)
		}
		to.SetWorkFactor(scryptWork)
		spare, err := age.NewScryptIdentity(l.Passphrase)
		return []age.Recipient{to}, spare, err
	case len(l.Recipients) == 0:
		return nil, nil, errs.New(errs.ValidationError,
			"backups are encrypted: set COFFER_BACKUP_PASSPHRASE, or pass a public key with "+
				"--recipient (age-keygen creates a key pair); --plain leaves that to whatever stores the file")
	}
	for _, text := range l.Recipients {
		r, err := age.ParseX25519Recipient(text)
		if err != nil {
			return nil, nil, errs.New(errs.ValidationError,
				"a recipient must be a public key from age-keygen, which begins with age1")
		}
		to = append(to, r)
	}
	once, err := age.GenerateX25519Identity()
	if err != nil {
		return nil, nil, fmt.Errorf("create a key: %w", err)
	}
	return append(to, once.Recipient()), once, nil
}

// identities returns the keys that open a backup.
func (l Lock) identities() ([]age.Identity, error) {
	if l.Identities != "" {
		f, err := os.Open(l.Identities)
		if err != nil {
			return nil, errs.New(errs.ValidationError, "cannot read the identity: %v", err)
		}
		defer f.Close() //nolint:errcheck // only read
		found, err := age.ParseIdentities(f)
		if err != nil {
			return nil, errs.New(errs.ValidationError, "the identity must be a key file from age-keygen: %v", err)
		}
		return found, nil
	}
	if l.Passphrase == "" {
		return nil, errs.New(errs.ValidationError,
			"set COFFER_BACKUP_PASSPHRASE to open the backup, or pass the key file from age-keygen with "+
				"--identity")
	}
	one, err := age.NewScryptIdentity(l.Passphrase)
	if err != nil {
		return nil, fmt.Errorf("passphrase: %w", err)
	}
	return []age.Identity{one}, nil
}

// Backup writes the whole database to a new encrypted file. It then reads the file back, decrypts
// it and compares every hash. Only then does the file get its name, so a failed backup leaves no
// file.
func (a *Archive) Backup(ctx context.Context, path string, way Way, moved progress) (Manifest, error) {
	to, spare, err := way.Lock.recipients()
	if err != nil {
		return Manifest{}, err
	}
	var m Manifest
	size := int64(0)
	err = IntoFile(path, func(f *os.File) error {
		if m, err = a.stream(ctx, f, to, way, moved); err != nil {
			return err
		}
		debug.FreeOSMemory() // the passphrase used 128 MiB, and the check needs as much again
		defer debug.FreeOSMemory()
		if err := a.verify(f, spare); err != nil {
			return fmt.Errorf("the backup was written but could not be verified; check the disk: %w", err)
		}
		info, err := f.Stat()
		if err == nil {
			size = info.Size()
		}
		return err
	})
	if err != nil {
		return Manifest{}, err
	}
	return m, a.record(ctx, m, size, way, true)
}

// BackupTo writes the whole database to w, such as a pipe. It cannot read back what it has written.
func (a *Archive) BackupTo(ctx context.Context, w io.Writer, way Way, moved progress) (Manifest, error) {
	to, _, err := way.Lock.recipients()
	if err != nil {
		return Manifest{}, err
	}
	counted := &meter{w: w, hash: sha256.New()}
	m, err := a.stream(ctx, counted, to, way, moved)
	if err != nil {
		return Manifest{}, err
	}
	return m, a.record(ctx, m, counted.n, way, false)
}

func (a *Archive) record(ctx context.Context, m Manifest, size int64, way Way, verified bool) error {
	return settings.RecordBackup(ctx, a.db, settings.BackupMade{
		AsOf: m.Created, Bytes: size, Scheduled: way.Scheduled, Verified: verified, Every: way.Every,
	})
}

// stream writes a backup, encrypted for its recipients if there are any.
func (a *Archive) stream(ctx context.Context, w io.Writer, to []age.Recipient, way Way, moved progress,
) (Manifest, error) {
	if len(to) == 0 {
		return a.write(ctx, w, Backup, way.Uncompressed, moved)
	}
	sealed, err := age.Encrypt(w, to...)
	if err != nil {
		return Manifest{}, fmt.Errorf("encrypt: %w", err)
	}
	m, err := a.write(ctx, sealed, Backup, way.Uncompressed, moved)
	if err != nil {
		return Manifest{}, err
	}
	if err := sealed.Close(); err != nil {
		return Manifest{}, fmt.Errorf("encrypt: %w", err)
	}
	return m, nil
}

func (a *Archive) verify(f *os.File, spare age.Identity) error {
	plain, size, err := content(f, func() ([]age.Identity, error) { return []age.Identity{spare}, nil })
	if err != nil {
		return err
	}
	_, err = open(plain, size, Backup, a.db.Newest())
	return err
}

// The first bytes of age files, and of backups that are not encrypted.
const (
	ageMark = "age-encryption.org/"
	zipMark = "PK\x03\x04"
)

// content opens a backup. Each part is verified when it is read.
func content(f *os.File, identities func() ([]age.Identity, error)) (io.ReaderAt, int64, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, 0, fmt.Errorf("read backup: %w", err)
	}
	head := make([]byte, len(ageMark))
	if _, err := f.ReadAt(head, 0); err != nil && !errors.Is(err, io.EOF) {
		return nil, 0, fmt.Errorf("read backup: %w", err)
	}
	if strings.HasPrefix(string(head), zipMark) {
		return f, info.Size(), nil
	}
	if string(head) != ageMark {
		return nil, 0, errs.New(errs.ValidationError,
			"this file was not made by coffer backup; if it is from coffer export, use coffer import")
	}
	keys, err := identities()
	if err != nil {
		return nil, 0, err
	}
	plain, size, err := age.DecryptReaderAt(f, info.Size(), keys...)
	if err != nil {
		return nil, 0, errs.Wrap(err, errs.ValidationError,
			"the backup can't be opened: wrong passphrase or identity, or a damaged file")
	}
	return plain, size, nil
}

// Restore restores a backup into an empty database, completely or not at all. It first creates the
// schema with which the backup was made, then the rows. The caller migrates the database
// afterwards.
func (a *Archive) Restore(ctx context.Context, path string, lock Lock, moved progress) (Manifest, error) {
	f, err := os.Open(path) //nolint:gosec // the person at the keyboard names a file of theirs
	if err != nil {
		return Manifest{}, errs.New(errs.ValidationError, "cannot read the backup: %v", err)
	}
	defer f.Close() //nolint:errcheck // only read
	plain, size, err := content(f, lock.identities)
	if err != nil {
		return Manifest{}, err
	}
	in, err := open(plain, size, Backup, a.db.Newest())
	if err != nil {
		return Manifest{}, err
	}
	if err := a.schemaOf(ctx, in.Manifest); err != nil {
		return Manifest{}, err
	}
	return in.Manifest, a.into(ctx, in, moved)
}

// schemaOf creates the schema of the backup in an empty database.
func (a *Archive) schemaOf(ctx context.Context, m Manifest) error {
	want := m.Schema
	if m.development() {
		want = a.db.Newest()
	}
	at, err := a.db.SchemaVersion(ctx)
	switch {
	case err != nil:
		return err
	case at == 0:
		_, err := a.db.MigrateBy(ctx, pg.Migration{To: want})
		return err
	case at != want:
		return errs.New(errs.Conflict, "the backup is of schema %d and this database has schema %d: restore it into a "+
			"new, empty database (createdb), which no coffer has started on", want, at)
	}
	return nil
}
