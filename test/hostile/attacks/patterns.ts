import { isSane, observed, oneOf, statusOf, type Attack, type Target } from '../attack.js';

const encoder = new TextEncoder();

const upload = ({ attacker }: Target, text: string, filename: string) =>
  statusOf(attacker.ingestFile(encoder.encode(text), filename, { prefer: 'respond-async' }));

/** 15,000 of something fit into a request's headers. */
const LONG = 15_000;

const header = (name: string, value: string): Attack => ({
  name: `header ${name}: ${JSON.stringify(value.slice(0, 12))} repeated`,
  run: async ({ url, attacker }) => {
    const headers = { authorization: attacker.authorization, [name]: value };
    const ask = () => statusOf(fetch(`${url}/documents?limit=1`, { headers }));
    return observed(await Promise.all(Array.from({ length: 20 }, ask)), oneOf(200, 400, 401, 415, 422));
  },
});

const filter = (name: string, filters: string): Attack => ({
  name: `filters in a query: ${name}`,
  run: async ({ attacker }) => {
    const ask = () => statusOf(attacker.get(`/documents?filters=${encodeURIComponent(filters)}`));
    return observed(await Promise.all(Array.from({ length: 10 }, ask)), oneOf(200, 422, 431));
  },
});

/** Attacks on the patterns and parsers of the API itself. */
export const patternAttacks: readonly Attack[] = [
  ...(
    [
      ['36 empty comments and no tag', `${'<!---->'.repeat(36)}x`, 'comments.txt'],
      ['comments that never end', '<!--'.repeat(1_000), 'open.html'],
      ['blanks', ' '.repeat(4_000), 'blank.html'],
      ['angles', '<'.repeat(4_000), 'angles.xml'],
      ['a doctype without end', `<!doctype ${'a '.repeat(2_000)}`, 'doctype.html'],
      ['brackets', '['.repeat(4_000), 'brackets.json'],
    ] as const
  ).map(([name, text, filename]): Attack => ({
    name: `upload of ${name}`,
    run: async (target) => {
      const asked = Array.from({ length: 5 }, () => upload(target, text, filename));
      return observed(await Promise.all(asked), oneOf(200, 202, 400, 415));
    },
  })),
  ...(['prefer', 'cookie', 'accept', 'range', 'x-forwarded-for', 'if-none-match'] as const).flatMap(
    (name) => [header(name, `wait${' '.repeat(LONG)}x`), header(name, ',;="'.repeat(LONG / 4))],
  ),
  header('authorization', `Bearer ${'a.'.repeat(LONG / 2)}`),
  filter('brackets', '['.repeat(8_000)),
  filter('Python brackets', "{'a':".repeat(1_600)),
  filter('backslashes', `{'a': '${'\\'.repeat(8_000)}`),
  filter('digits', '1'.repeat(12_000)),
  filter('True', 'True,'.repeat(2_000)),
  {
    name: 'names of files that are not names',
    run: async (target) => {
      const names = [
        '../'.repeat(1_000),
        '/etc/passwd',
        '..\\..\\x.txt',
        '.',
        '..',
        'CON',
        'a\u0000b.txt',
        '\u202Etxt.exe',
        'a'.repeat(10_000),
        '%2e%2e%2f',
        ' '.repeat(300),
        "x'; DROP TABLE.txt",
      ];
      const asked = names.map((name) => upload(target, 'Just text.', name));
      return observed(await Promise.all(asked), oneOf(200, 202, 400, 415, 422));
    },
  },
  {
    name: 'ids with control characters',
    run: async ({ attacker }) => {
      const ids = [
        '%00',
        '%0d%0aX: y',
        '%1b[2J',
        '%ff',
        '%e0%80%80',
        '..%2f..',
        '%u0000',
        '%7f',
        '*',
        '?',
        '#',
      ];
      const views = ['', '/status', '/chunks', '/download'];
      const paths = ids.flatMap((id) => views.map((view) => `/documents/${id}${view}`));
      return observed(await Promise.all(paths.map((path) => statusOf(attacker.get(path)))), isSane);
    },
  },
];
