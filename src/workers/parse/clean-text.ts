/** Text that every store and model takes: no NUL, no lone surrogates, no byte order mark, no characters of no width but joiners. */
export function cleanText(text: string): string {
  return text.replace(/\0|^\ufeff/g, '').replace(/\p{Surrogate}/gu, '\ufffd');
}
