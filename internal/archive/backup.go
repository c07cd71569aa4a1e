package archive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"unicode/utf8"

	"coffer/internal/errs"
	"filippo.io/age"
)

// A Lock is what a backup is encrypted with: a passphrase, or the public keys of those who may open
// it.
type Lock struct {
	Passphrase string
	Recipients []string // age1…
	Identities string   // what age-keygen wrote, to open it
}

// minPassphrase is how many characters a passphrase has at least.
const minPassphrase = 12

// scryptWork is how hard a passphrase is to guess: 2^17 costs 128 MiB and some tenths of a second,
// once a backup.
const scryptWork = 17

// recipients returns the keys that can open the backup, and spare opens it for the check after
// writing. If public keys are given, nobody here could open it, so a key that lives as long as the
// call is added to them.
func (l Lock) recipients() (to []age.Recipient, spare age.Identity, err error) {
	switch {
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
			"backups are always encrypted: set COFFER_BACKUP_PASSPHRASE, or pass a public key with "+
				"--recipient (age-keygen creates a key pair)")
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

// Backup writes the whole database to a new encrypted file and reads it back: it decrypts the file
// and compares every hash. Only then does the file get its name; a failed backup leaves no file.
func (a *Archive) Backup(ctx context.Context, path string, lock Lock, moved progress) (Manifest, error) {
	to, spare, err := lock.recipients()
	if err != nil {
		return Manifest{}, err
	}
	var m Manifest
	err = IntoFile(path, func(f *os.File) error {
		sealed, err := age.Encrypt(f, to...)
		if err != nil {
			return fmt.Errorf("encrypt: %w", err)
		}
		if m, err = a.write(ctx, sealed, Backup, moved); err != nil {
			return err
		}
		if err := sealed.Close(); err != nil {
			return fmt.Errorf("encrypt: %w", err)
		}
		debug.FreeOSMemory() // a passphrase's first use holds 128 MiB, and the check needs as much
		if err := verify(f, spare); err != nil {
			return fmt.Errorf("the backup was written but could not be verified; check the disk: %w", err)
		}
		return nil
	})
	return m, err
}

func verify(f *os.File, identities ...age.Identity) error {
	plain, size, err := decrypt(f, identities...)
	if err != nil {
		return err
	}
	_, err = open(plain, size, Backup)
	return err
}

// ageMark is the beginning of age files.
const ageMark = "age-encryption.org/"

// decrypt opens a backup. Each part of it is checked when it is read.
func decrypt(f *os.File, identities ...age.Identity) (io.ReaderAt, int64, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, 0, fmt.Errorf("read backup: %w", err)
	}
	head := make([]byte, len(ageMark))
	if _, err := f.ReadAt(head, 0); err != nil && !errors.Is(err, io.EOF) {
		return nil, 0, fmt.Errorf("read backup: %w", err)
	}
	if string(head) != ageMark {
		return nil, 0, errs.New(errs.ValidationError,
			"this file was not made by coffer backup; to import a file from coffer export, use coffer import")
	}
	plain, size, err := age.DecryptReaderAt(f, info.Size(), identities...)
	if err != nil {
		return nil, 0, errs.Wrap(err, errs.ValidationError,
			"the backup can't be opened: wrong passphrase or identity, or a damaged file")
	}
	return plain, size, nil
}

// Restore restores a backup into an empty database, completely or not at all.
func (a *Archive) Restore(ctx context.Context, path string, lock Lock, moved progress) (Manifest, error) {
	identities, err := lock.identities()
	if err != nil {
		return Manifest{}, err
	}
	f, err := os.Open(path) //nolint:gosec // the person at the keyboard names a file of theirs
	if err != nil {
		return Manifest{}, errs.New(errs.ValidationError, "cannot read the backup: %v", err)
	}
	defer f.Close() //nolint:errcheck // only read
	plain, size, err := decrypt(f, identities...)
	if err != nil {
		return Manifest{}, err
	}
	in, err := a.bring(ctx, plain, size, Backup, moved)
	return in.Manifest, err
}
