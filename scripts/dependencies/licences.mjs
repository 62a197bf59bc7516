/** Licences, by their SPDX identifiers, under which a package may be used and passed on with the service. */
const ALLOWED = new Set([
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'CC0-1.0',
  'ISC',
  'MIT',
  'MIT-0',
  'Unlicense',
  'Zlib',
]);

/**
 * Licences that the lock file does not know: of packages that state theirs in an older way (their files say it), and of
 * programs for other platforms, which could not be looked up and have that of the package they belong to.
 */
const STATED = [
  ['busboy', 'MIT'],
  ['streamsearch', 'MIT'],
  ['@msgpackr-extract/', 'MIT'],
  ['@node-llama-cpp/', 'MIT'],
];

/** @returns the SPDX expression of a package of the lock file; undefined when nobody says it */
export function licenceOf(name, { license }) {
  if (typeof license === 'string') return license;
  return STATED.find(([known]) => (known.endsWith('/') ? name.startsWith(known) : name === known))?.[1];
}

/**
 * Tells whether an SPDX expression can be met with allowed licences alone. An expression that is not understood is not
 * allowed.
 */
export function isAllowed(expression = '') {
  const words = expression.match(/[()]|[^\s()]+/g) ?? [];
  let at = 0;
  const one = () => {
    if (words[at] !== '(') return ALLOWED.has(words[at++]);
    at++;
    const inside = any();
    return words[at++] === ')' && inside;
  };
  const all = () => {
    let met = one();
    while (words[at] === 'AND') {
      at++;
      met = one() && met;
    }
    return met;
  };
  const any = () => {
    let met = all();
    while (words[at] === 'OR') {
      at++;
      met = all() || met;
    }
    return met;
  };
  const met = any();
  return met && at === words.length;
}
