/** Tells whether something that a provider says is a word, such as a code, that is safe to log. */
export function isPlainWord(value: unknown): value is string {
  return typeof value === 'string' && /^[\w.-]{1,64}$/.test(value);
}
