import { describe, expect, test } from '@jest/globals';
import type { FileFormat } from '../../../src/readers/detection/formats.js';
import { withoutDataUris } from '../../../src/readers/encoding/data-uris.js';
import { readBlocks } from '../../support/read-blocks.js';

const base64 = (size: number): string =>
  Buffer.from(Uint8Array.from({ length: size }, (_, at) => (at * 7_919 + (at >> 3)) % 256)).toString(
    'base64',
  );
const PICTURE = `data:image/png;base64,${base64(9_000)}`;
const LETTERS = base64(9_000).slice(100, 140);
const DRAWING = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(`<svg xmlns='http://www.w3.org/2000/svg'>${'<path d="M0 0"/>'.repeat(9)}</svg>`)}`;

const cleaned = (text: string) => {
  const types: string[] = [];
  return { text: withoutDataUris(text, ({ type }) => types.push(type)), types };
};

describe('a file in Base64', () => {
  const png = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.from(base64(9_000), 'base64')]);
  const file = png.toString('base64');
  const folded = file.replace(/.{74}/g, '$&\n ');

  test.each<readonly [FileFormat, string]>([
    ['json', JSON.stringify({ a: 'Before', content: file, b: 'after' })],
    ['text', `Before\n${file.replace(/.{76}/g, '$&\r\n')}\r\nafter\n`],
    ['text', `BEGIN:VCARD\nFN:Before\nPHOTO;ENCODING=b;TYPE=PNG:${folded}\nNOTE:after\nEND:VCARD\n`],
    ['csv', `name,icon\nBefore,${file}\nafter,x\n`],
    ['xml', `<a><b>Before</b><picture>${file}</picture><d>after</d></a>`],
  ])('in %s is left out and named, and the text around it is kept', async (format, written) => {
    const { text, gaps } = await readBlocks(format, written);
    expect(text).not.toContain(file.slice(400, 440));
    for (const word of ['Before', 'after']) expect(text).toContain(word);
    expect(gaps).toEqual([expect.stringMatching(/skipped.*file in Base64, image\/png, 12 KB long/)]);
  });

  test('is known by how a picture, a document or an archive begins, and by its length', () => {
    const types = ['ffd8ffe000104a46', '255044462d312e37', '504b030414000600', '1f8b080000000000'].map(
      (start) => {
        const written = Buffer.concat([Buffer.from(start, 'hex'), Buffer.alloc(900, 'ab1')]).toString(
          'base64',
        );
        return cleaned(`"${written}"`);
      },
    );
    expect(types).toEqual(
      ['image/jpeg', 'application/pdf', 'application/zip', 'application/gzip'].map((type) => ({
        text: '""',
        types: [type],
      })),
    );
    for (const text of [file.slice(0, 200), file.toLowerCase(), `key: ${base64(9_000)}`, `x${file}`])
      expect(cleaned(text)).toEqual({ text, types: [] });
  });
});

describe('a data URI', () => {
  const FILES: readonly (readonly [FileFormat, string])[] = [
    ['markdown', `# Mill\n\nBefore ![a wheel](${PICTURE}) after\n\nThe end\n`],
    ['text', `Mill\n\nBefore ${PICTURE} after\n\nThe end\n`],
    ['csv', `name,icon\nBefore,${PICTURE}\nafter,"${PICTURE}"\nThe end,\n`],
    ['json', JSON.stringify({ a: 'Before', icon: PICTURE, b: 'after', c: 'The end' })],
    ['json', JSON.stringify({ a: 'Before', icon: PICTURE, b: 'after', c: 'The end' }).replaceAll('/', '\\/')],
    ['code', `const a = 'Before';\nconst icon = '${PICTURE}';\nconst b = 'after The end';\n`],
    ['xml', `<a><b>Before</b><c>${PICTURE}</c><d>after</d><e>The end</e></a>`],
    [
      'ics',
      `BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nSUMMARY:Before ${PICTURE} after\r\nDESCRIPTION:The end\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n`,
    ],
  ];
  test.each(FILES)('in %s is left out and named, and the text around it is kept', async (format, file) => {
    const { text, gaps } = await readBlocks(format, file);
    expect(text).not.toContain(LETTERS);
    expect(text).not.toContain('base64');
    for (const word of ['Before', 'after', 'The end']) expect(text).toContain(word);
    expect(gaps).toContainEqual(expect.stringMatching(/skipped.*data URI of image\/png, 12 KB long/));
  });

  test('leaves the lines behind it as they are, also where it has several itself', async () => {
    const wrapped = base64(300).replace(/.{76}/g, '$&\n');
    const { text, blocks } = await readBlocks(
      'markdown',
      `![x](data:image/png;base64,${wrapped})\n\nThe end\n`,
    );
    expect(text.replace(/\n+/g, '\n')).toBe('![x](\n)\nThe end\n');
    expect(blocks.at(-1)?.place?.line).toBe(wrapped.split('\n').length + 2);
  });

  test('of a drawing ends where its quote or bracket does', () => {
    expect(cleaned(`a { background: url(${DRAWING}) no-repeat }`).text).toBe(
      'a { background: url() no-repeat }',
    );
    const drawing = `<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 8 8'><path d='M0 0h8v8H0z'/></svg>`;
    expect(cleaned(`url("data:image/svg+xml;utf8,${drawing}") end`)).toEqual({
      text: 'url("") end',
      types: ['image/svg+xml'],
    });
    const nested = JSON.stringify({ a: `<img src="data:image/svg+xml,${drawing}">`, b: 1 });
    expect(
      cleaned(JSON.stringify({ a: `data:image/svg+xml,${drawing.replaceAll("'", '"')}`, b: 1 })).text,
    ).toBe('{"a":"","b":1}');
    expect(cleaned(nested).text).toBe(JSON.stringify({ a: '<img src="">', b: 1 }));
  });

  test('stays where it is a short text or an example, and so does what only looks like one', () => {
    for (const text of [
      'data:,hello',
      'See data:text/plain;charset=utf-8,Hello%20world for that.',
      'It begins with data:image/png;base64,iVBORw0KGgo... and goes on.',
      '`data:image/png;base64,${encoded}`',
      `metadata:image/png;base64,${'QUJD'.repeat(20)}`,
      'Types of data: image/png, image/jpeg and others.',
      `-----BEGIN CERTIFICATE-----\n${base64(600)}\n-----END CERTIFICATE-----\n`,
    ])
      expect(cleaned(text)).toEqual({ text, types: [] });
  });

  test('is not followed by the words of the next line', () => {
    const next = '\nThe_next_line_of_the_text\nThe 2nd line';
    expect(cleaned(`${PICTURE}${next}`)).toEqual({ text: next, types: ['image/png'] });
  });

  test('takes time in proportion to the text, whatever it is', () => {
    const started = process.cpuUsage();
    const most = 2_000_000;
    for (const part of [
      'data:',
      'data:,',
      '"data:a/b,',
      `"data:a/b,\\"data:a/b,'data:a/b,(`,
      'data:a/b;base64,',
      `data:a/b;base64,${'A'.repeat(20)}\n`,
      'A',
      ';base64,',
      'data:a/b;c=d;',
      'iVBORw0KGgo',
      'iVBORw0KGgo ',
      `iVBORw0KGgo${'Aa1'.repeat(7)}\n`,
    ])
      cleaned(part.repeat(most / part.length));
    cleaned(`data:a/b;base64,${'A\n'.repeat(most)}`);
    cleaned(`data:a/b;base64,${'A'.repeat(10 * most)}`);
    expect(process.cpuUsage(started).user / 1_000).toBeLessThan(4_000);
  });
});
