/** The files that a file picker offers. The manifest has the same list, for files that other apps share. */
export const statements =
  ".csv,.tsv,.txt,.ofx,.qfx,.qbo,.qif,.xml,.camt,.sta,.940,.mt940,.xlsx,.zip,text/*,application/xml,application/zip";
