import { missingLanguages } from './languages.js';

interface WarningLogger {
  readonly warn: (fields: { readonly missing: readonly string[] }, message: string) => void;
}

/** Names the languages of text recognition whose data is not installed, once, before any file is read. */
export function warnOfMissingLanguages(languages: readonly string[], logger: WarningLogger): void {
  const missing = missingLanguages(languages);
  if (missing.length === 0) return;
  const packages = missing.map((language) => `@tesseract.js-data/${language}`).join(' ');
  logger.warn({ missing }, `text recognition has no data of some languages: npm install ${packages}`);
}
