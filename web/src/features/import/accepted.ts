/** What a picker of files shows. The manifest has the same names, for files that other apps share. */
export const statements =
  ".csv,.tsv,.txt,.ofx,.qfx,.qbo,.qif,.xml,.camt,.sta,.940,.mt940,.xlsx,.zip,text/*,application/xml,application/zip";
