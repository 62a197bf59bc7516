/** A request by hand, for what proper clients do not send. */
export interface RawRequest {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  /** Lines of the head but the first. */
  readonly headers: readonly string[];
  readonly body?: Buffer;
}

/** Room of one header beside the others that a request needs: Node.js reads 16 KiB of them. */
const MAX_SIZE = 15_000;

const fill = (unit: string, size = MAX_SIZE) => unit.repeat(Math.floor(size / unit.length));

/** The values of a header: parts, repeated, and once more with an end that lets it fail at last. */
function values(prefix: string, units: readonly string[]): string[] {
  return units.flatMap((unit) => [prefix + fill(unit), `${prefix}${fill(unit, MAX_SIZE - 10)}!x`]);
}

interface Kind {
  readonly header: string;
  readonly prefix?: string;
  readonly units: readonly string[];
  readonly request?: Partial<Pick<RawRequest, 'method' | 'path'>> & { readonly headers?: readonly string[] };
}

const page = { path: '/docs/swagger-ui.css' };
const preflight = {
  method: 'OPTIONS',
  headers: ['Access-Control-Request-Method: POST', 'Origin: http://localhost'],
};
const upload = { method: 'POST', path: '/ingest/file' };
const json = { method: 'POST', path: '/retrieve/chunks' };

const kinds: readonly Kind[] = [
  { header: 'Host', units: ['a', 'a.', ':', '[', '1:', 'a:1', ' a', '%', '-'] },
  { header: 'Host', prefix: '[', units: [':', '1:', 'f.', ']'] },
  {
    header: 'X-Forwarded-For',
    units: [',', ' ', '10.1.1.1,', '10.1.1.1, ', '::1,', ':', '1.', 'a ,', '::ffff:10.1.1.1,'],
  },
  { header: 'X-Forwarded-Host', units: [',', ' ', 'a,', 'a.', ':'] },
  { header: 'X-Forwarded-Proto', units: [',', ' ', 'https,'] },
  { header: 'Forwarded', units: ['for=', ';', ',', '"'] },
  { header: 'Range', prefix: 'bytes=', units: ['0-1,', '-', ',', '0-', ' ', '9', '1-0,'], request: page },
  { header: 'If-None-Match', units: ['"a",', 'W/"', ',', ' ', '"', '*', 'W/"a" ,'], request: page },
  { header: 'If-Match', units: ['"a",', ',', ' '], request: page },
  { header: 'If-Modified-Since', units: ['Mon, ', ' ', '1', '(', '(a)'], request: page },
  { header: 'If-Range', units: ['"', 'W/', ' '], request: page },
  { header: 'Cache-Control', units: ['no-cache,', ',', ' ', '='], request: page },
  {
    header: 'Origin',
    prefix: 'http://',
    units: ['a', 'a.', '%41', '[', ':', '@', '\\', 'xn--a.', '0x', '9'],
  },
  { header: 'Access-Control-Request-Headers', units: [',', 'a,', ' ', ', a'], request: preflight },
  { header: 'Accept', units: [',', ';q=0.1,', '*/*,', ' ', 'a/b;', ';="'] },
  { header: 'Accept-Encoding', units: [',', 'gzip;q=0.1,', ' '], request: page },
  { header: 'Authorization', prefix: 'Bearer ', units: [' ', '.', 'a.', '=', 'Bearer '] },
  { header: 'Cookie', units: ['a=b;', '=', ';', ' ', '"', '%'] },
  { header: 'Prefer', units: [' ', ',', 'wait=', ';', '"', 'a="', '=,'] },
  { header: 'Prefer', prefix: 'wait', units: [' ', '\t', '= '] },
  { header: 'X-Request-Id', units: ['a', ' ', '-'] },
  { header: 'Expect', units: ['a', ' ', '100-continue,'] },
  { header: 'Content-Type', units: [';', ' ', 'a/', '"', '; charset'], request: json },
  {
    header: 'Content-Type',
    prefix: 'application/json',
    units: [';', '; ', ';charset=', ';a="\\', ' '],
    request: json,
  },
  {
    header: 'Content-Type',
    prefix: 'multipart/form-data',
    units: [';', '; ', ';a=b', ';boundary=', ';a="\\', ' '],
    request: upload,
  },
  {
    header: 'Content-Type',
    prefix: 'multipart/form-data; boundary=',
    units: ['b', '"', '\\"', '-'],
    request: upload,
  },
  { header: 'Content-Encoding', units: ['gzip,', ' ', ','], request: json },
];

/** Headers of the largest size that reaches the service. */
export const headerAttacks: readonly RawRequest[] = kinds.flatMap(({ header, prefix = '', units, request }) =>
  values(prefix, units).map((value) => {
    const body = request?.method === 'POST' ? Buffer.from('{}') : undefined;
    const host = header === 'Host' ? [] : ['Host: localhost'];
    return {
      name: `${header}: ${prefix}${JSON.stringify(value.slice(prefix.length, prefix.length + 8))}…${value.endsWith('!x') ? '!x' : ''}`,
      method: 'GET',
      path: '/documents?limit=1',
      ...request,
      headers: [...host, ...(request?.headers ?? []), `${header}: ${value}`],
      ...(body && { body }),
    };
  }),
);

/** Lengths and codings that do not agree, or are none. All are refused. */
export const lengthAttacks: readonly RawRequest[] = [
  ...['abc', '-1', '1e3', '+5', '0x10', '5, 5', '5;5', '99999999999999999999', '', '1 1'].map((length) => [
    `Content-Length: ${length}`,
  ]),
  ['Content-Length: 2', 'Content-Length: 3'],
  ['Content-Length: 2', 'Transfer-Encoding: chunked'],
  ['Transfer-Encoding: chunked, identity'],
  ['Transfer-Encoding: xchunked'],
  [`Content-Length: ${fill('1')}`],
  [`Content-Length: ${fill('0')}2`],
  [`Transfer-Encoding: ${fill('chunked,')}`],
].map((headers) => ({
  name: headers.map((each) => each.slice(0, 40)).join(', '),
  method: 'POST',
  path: '/ingest/text',
  headers: ['Host: localhost', 'Content-Type: application/json', ...headers],
  body: Buffer.from('{}'),
}));

const form = (boundary: string, body: Buffer): Omit<RawRequest, 'name'> => ({
  ...upload,
  body,
  headers: [
    'Host: localhost',
    `Content-Type: multipart/form-data; boundary=${boundary}`,
    `Content-Length: ${String(body.length)}`,
  ],
});
const part = (disposition: string, content = 'x') =>
  `--b\r\nContent-Disposition: form-data; ${disposition}\r\n\r\n${content}\r\n`;

/** The size of one part, with the rest of its head; the reader of forms drops parts whose headers are longer. */
const PART = 15_500;

/** Heads of parts, and boundaries, that make their reader look again and again. */
export const formAttacks: readonly RawRequest[] = [
  ...[
    ';a=b',
    ';',
    ' ',
    '\t',
    ';a="\\"',
    ';a="',
    '"',
    ";filename*=utf-8''%41",
    ";filename*=x''%",
    "'",
    '%',
    ';filename="a',
    'é',
  ].map((unit): RawRequest => {
    const one = part(`name="metadata"${fill(unit, PART)}`);
    return {
      name: `60 parts of ${JSON.stringify(unit)}`,
      ...form('b', Buffer.from(`${one.repeat(60)}--b--\r\n`)),
    };
  }),
  ...['%41', '%', '\\"', 'é', '../', '\\\\', ' ', '.'].flatMap((unit): RawRequest[] =>
    [`filename="${fill(unit, PART)}"`, `filename*=utf-8''${fill(unit, PART)}`].map((filename) => ({
      name: `a file of the name ${filename.slice(0, 20)}…`,
      ...form('b', Buffer.from(`${part(`name="file"; ${filename}`, 'Some text.')}--b--\r\n`)),
    })),
  ),
  ...(
    [
      ['the first bytes of a boundary', fill('\r\n--', 4_000_000)],
      ['half a boundary', fill('\r\n--bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb', 4_000_000)],
      ['nearly a boundary', fill(`\r\n--${'b'.repeat(68)}x`, 4_000_000)],
      ['the letter of a boundary', fill('b', 4_000_000)],
      ['line ends', fill('\r\n', 4_000_000)],
    ] as const
  ).map(([name, text]): RawRequest => {
    const boundary = 'b'.repeat(69);
    const head = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n`;
    return {
      name: `a file of ${name}`,
      ...form(boundary, Buffer.from(`${head}${text}\r\n--${boundary}--\r\n`)),
    };
  }),
  ...[10_000, 200_000].map((count): RawRequest => ({
    name: `${String(count)} boundaries`,
    ...form('b', Buffer.from('--b\r\n'.repeat(count))),
  })),
  { name: 'headers without end', ...form('b', Buffer.from(`--b\r\n${fill('A: b\r\n', 4_000_000)}`)) },
  { name: 'a header without end', ...form('b', Buffer.from(`--b\r\nA: ${fill('b', 4_000_000)}`)) },
];
