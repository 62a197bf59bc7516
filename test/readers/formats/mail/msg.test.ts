import { describe, expect, test } from '@jest/globals';
import { outlookMessage } from '../../../support/outlook-message.js';
import { processorTimeOf } from '../../../support/processor-time.js';
import { readBlocks } from '../../../support/read-blocks.js';

const ANN = ['Ann', 'ann@example.com'] as const;
const BOB = ['Bob', 'bob@example.com'] as const;

/** RTF as Outlook stores it without compression. */
function stored(rtf: string): Uint8Array {
  const header = Buffer.alloc(16);
  header.writeUInt32LE(rtf.length + 12, 0);
  header.writeUInt32LE(rtf.length, 4);
  header.writeUInt32LE(0x414c_454d, 8);
  return Buffer.concat([header, Buffer.from(rtf, 'latin1')]);
}

/** The properties of a message that says the code page of its strings. */
function codePage(number: number): Uint8Array {
  const bytes = Buffer.alloc(32 + 16);
  bytes.writeUInt32LE(0x3ffd_0003, 32);
  bytes.writeUInt32LE(number, 40);
  return bytes;
}

describe('a message of Outlook', () => {
  test.each([
    [1251, Buffer.from([0xcf, 0xf0, 0xe8, 0xe2, 0xe5, 0xf2]), 'Привет'],
    [932, Buffer.from([0x89, 0xef, 0x8b, 0x63]), '会議'],
    [50_220, Buffer.from('\u001b$B2q5D\u001b(B', 'latin1'), '会議'],
    [50_225, Buffer.from('\u001b$)C\u000eH8@G\u000f', 'latin1'), '회의'],
    [932, Buffer.from('\u001b$B2q5D\u001b(B', 'latin1'), '会議'],
  ])('has strings of one byte a letter in code page %d', async (page, bytes, text) => {
    const streams = {
      '__properties_version1.0': codePage(page),
      '__substg1.0_0037001E': bytes,
      '__substg1.0_1000001E': bytes,
    };
    const read = await readBlocks('msg', outlookMessage({ streams, messages: [{ subject: 'Größe' }] }));
    expect(read.text).toBe(`${text}\n\n${text}\n\nGröße\n\n`);
    expect(read.receipt.title).toBe(text);
  });

  test('has its subject, people and text', async () => {
    const { text, receipt, blocks } = await readBlocks(
      'msg',
      outlookMessage({ subject: 'Größe', body: 'Guten Tag.\r\nBis bald.', sender: ANN, to: [BOB] }),
    );
    expect(text).toBe(
      'Größe\n\nFrom: Ann <ann@example.com>\nTo: Bob <bob@example.com>\n\nGuten Tag.\nBis bald.\n\n',
    );
    expect(blocks[0]?.heading).toBe(1);
    expect(receipt).toMatchObject({ title: 'Größe', parser: 'msgreader', gap_count: 0 });
    const people = { from: ['ann@example.com'], to: ['bob@example.com'], cc: [] };
    expect(receipt.mail).toEqual({ ...people, date: null, subject: 'Größe', message_id: null });
  });

  test('is read from HTML, or from RTF around text or HTML, where it has no text', async () => {
    const html = await readBlocks('msg', outlookMessage({ html: '<p>From <b>HTML</b>.</p>' }));
    expect(html.text).toContain('From HTML.');
    const text = "{\\rtf1\\ansi\\ansicpg1252\\fromtext {\\fonttbl{\\f0 Arial;}}Caf\\'e9 in text.\\par }";
    const rich =
      '{\\rtf1\\ansi\\ansicpg1252\\fromhtml1 {\\*\\htmltag64 <p>}\\htmlrtf {\\htmlrtf0 Within HTML.{\\*\\htmltag72 </p>}}';
    expect((await readBlocks('msg', outlookMessage({ rtf: stored(text) }))).text).toContain('Café in text.');
    expect((await readBlocks('msg', outlookMessage({ rtf: stored(rich) }))).text).toContain('Within HTML.');
  });

  test('is read from RTF of its own with its structure, without what nobody sees', async () => {
    const rtf =
      '{\\rtf1\\ansi{\\info{\\title Other}}{\\stylesheet{\\s1\\outlinelevel0 h;}}\\s1 Head\\par\\pard plain {\\v unseen}\\par}';
    const message = outlookMessage({ subject: 'x', rtf: stored(rtf) });
    const { blocks, text, receipt } = await readBlocks('msg', message);
    expect(text).toBe('x\n\nHead\n\nplain\n\n');
    expect(blocks.map(({ heading }) => heading)).toEqual([1, 2, undefined]);
    expect(receipt).toMatchObject({ title: 'x', parser: 'msgreader', gap_counts: { hidden: 1 } });
    expect((await readBlocks('msg', message, { hiddenText: 'keep' })).text).toContain('unseen');
  });

  test('whose RTF is no RTF, or wraps HTML only by what it says, is read all the same', async () => {
    const none = await readBlocks('msg', outlookMessage({ subject: 'x', rtf: stored('no RTF') }));
    expect(none.receipt.gap_counts).toEqual({ empty: 1 });
    const bare = '{\\rtf1\\ansi\\fromhtml1 bare words\\par';
    expect((await readBlocks('msg', outlookMessage({ rtf: stored(bare) }))).text).toContain('bare words');
  });

  test('is read from HTML where that says more than its text, as other mails are', async () => {
    const words =
      'The harbour office asks for the keys of the boat house by Friday, and for the list of all members.';
    const rich = stored(`{\\rtf1\\ansi\\fromhtml1 {\\*\\htmltag64 <p>}${words}{\\*\\htmltag72 </p>}}`);
    for (const more of [{ html: `<p>${words}</p>` }, { rtf: rich }]) {
      const { text } = await readBlocks('msg', outlookMessage({ body: 'See below.', ...more }));
      expect(text).toContain(words);
    }
    const same = await readBlocks('msg', outlookMessage({ body: words, html: `<h1>${words}</h1>` }));
    expect(same.text).toBe(`${words}\n\n`);
    const damaged = await readBlocks('msg', outlookMessage({ body: words, rtf: Buffer.from('no RTF') }));
    expect(damaged.text).toBe(`${words}\n\n`);
  });

  test('whose RTF has fifty thousand groups in each other is read in a time that grows with its length', async () => {
    const groups = 50_000;
    const rtf = `{\\rtf1\\ansi\\fromhtml1 ${'{'.repeat(groups)}words${'}'.repeat(groups)}}`;
    const milliseconds = await processorTimeOf(async () => {
      const { text } = await readBlocks('msg', outlookMessage({ rtf: stored(rtf) }));
      expect(text).toContain('words');
    });
    expect(milliseconds).toBeLessThan(5_000);
  });

  test('names its files, and reads messages within it', async () => {
    const { text, receipt } = await readBlocks(
      'msg',
      outlookMessage({
        subject: 'outer',
        body: 'Outer.',
        files: [{ name: 'table.csv', type: 'text/csv', bytes: Buffer.from('a,b') }],
        messages: [{ subject: 'inner', body: 'Inner.', messages: [{ subject: 'innermost', body: 'Core.' }] }],
      }),
    );
    expect(text).toBe('outer\n\nOuter.\n\ninner\n\nInner.\n\ninnermost\n\nCore.\n\n');
    expect(receipt.attachments).toMatchObject([
      { filename: 'table.csv', content_type: 'text/csv', size_bytes: 3, document_id: null },
    ]);
    expect(receipt.gap_counts).toEqual({ skipped: 1 });
  });

  test('with a long text is read whole', async () => {
    const body = 'All of it is read. '.repeat(100_000);
    const { text } = await readBlocks('msg', outlookMessage({ body }));
    expect(text.trim()).toHaveLength(body.trim().length);
  });

  test('that is encrypted fails as such', async () => {
    const bytes = Buffer.from('301106092a864886f70d010703a00430020200', 'hex');
    const sealed = outlookMessage({
      messageClass: 'IPM.Note.SMIME',
      files: [{ name: 'smime.p7m', type: 'application/pkcs7-mime', bytes }],
    });
    await expect(readBlocks('msg', sealed)).rejects.toMatchObject({ code: 'encrypted' });
  });
});

describe('a damaged message of Outlook', () => {
  const whole = Buffer.from(
    outlookMessage({
      subject: 'x',
      body: 'y'.repeat(200),
      files: [{ name: 'a', type: 'text/plain', bytes: Buffer.alloc(9_000, 'z') }],
    }),
  );
  const changed = (offset: number, value: number): Buffer => {
    const bytes = Buffer.from(whole);
    bytes.writeInt32LE(value, offset);
    return bytes;
  };
  const sectorAt = (number: number): number => (number + 1) * 512;
  const fat = sectorAt(whole.readInt32LE(0x4c));
  const directory = whole.readInt32LE(0x30);
  const expectCorrupt = (bytes: Uint8Array) =>
    expect(readBlocks('msg', bytes)).rejects.toMatchObject({
      code: 'corrupt',
      message: expect.stringContaining('Outlook'),
    });

  test('fails as corrupt where the chain of a table leads in a circle', async () => {
    await expectCorrupt(changed(fat + 4 * directory, directory));
    const rootStart = whole.readInt32LE(sectorAt(directory) + 0x74);
    await expectCorrupt(changed(fat + 4 * rootStart, rootStart));
    const miniFat = sectorAt(whole.readInt32LE(0x3c));
    const bytes = Buffer.from(whole);
    for (let index = 0; index < 128; index += 1) bytes.writeInt32LE(index, miniFat + 4 * index);
    await expectCorrupt(bytes);
  });

  test('fails as corrupt where its directory is no tree', async () => {
    const top = whole.readInt32LE(sectorAt(directory) + 0x4c);
    // Four entries are in a sector, and the first sectors of the directory follow one another.
    const entry = sectorAt(directory) + 128 * top;
    for (const field of [0x44, 0x48]) await expectCorrupt(changed(entry + field, top));
    await expectCorrupt(changed(sectorAt(directory) + 0x4c, 0));
    await expectCorrupt(changed(sectorAt(directory) + 0x4c, 9_999));
  });

  test('fails as corrupt where a size is impossible', async () => {
    for (const size of [0x7fff_ffff, -1]) {
      const bytes = Buffer.from(whole);
      for (let at = 128; at < 512; at += 128) bytes.writeInt32LE(size, sectorAt(directory) + at + 0x78);
      await expectCorrupt(bytes);
    }
    await expectCorrupt(changed(0x2c, 0x7fff_ffff));
    await expectCorrupt(changed(0x48, 0x7fff_ffff));
    await expectCorrupt(changed(0x40, 0x7fff_ffff));
  });

  test('fails as corrupt where it is cut off or is another compound file', async () => {
    await expectCorrupt(whole.subarray(0, 300));
    await expectCorrupt(whole.subarray(0, 1024));
    await expectCorrupt(outlookMessage({ messageClass: '' }).fill(0, 512));
  });

  test('never hangs or crashes, whatever bytes are changed', async () => {
    let seed = 7;
    const random = (below: number): number => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
      return seed % below;
    };
    for (let round = 0; round < 300; round += 1) {
      const bytes = Buffer.from(whole);
      for (let change = 0; change <= random(8); change += 1) bytes[random(bytes.length)] = random(256);
      const end = await readBlocks('msg', bytes).catch((error: unknown) => error);
      if (end instanceof Error) expect(end).toMatchObject({ code: 'corrupt' });
    }
  });

  const PROPERTIES = {
    '0037001F': 'Words of the subject',
    '0C1A001F': 'Ann Sender',
    '5D01001F': 'ann@example.com',
    '1000001F': 'Words of the body',
    '3001001F': 'Bob Recipient',
    '39FE001F': 'bob@example.com',
    '3707001F': 'table.csv',
    '370E001F': 'text/csv',
  };
  const complete = Buffer.from(
    outlookMessage({
      subject: PROPERTIES['0037001F'],
      sender: [PROPERTIES['0C1A001F'], PROPERTIES['5D01001F']],
      body: PROPERTIES['1000001F'],
      to: [[PROPERTIES['3001001F'], PROPERTIES['39FE001F']]],
      files: [{ name: PROPERTIES['3707001F'], type: PROPERTIES['370E001F'], bytes: Buffer.from('a,b') }],
      messages: [{ subject: 'Inner subject', body: 'Inner body' }],
    }),
  );
  /** The message with properties of another type, which their streams name. */
  const retyped = (message: Buffer, tag: string, type: string): Buffer => {
    const name = (of: string) => Buffer.from(`__substg1.0_${of}`, 'utf16le').toString('latin1');
    const other = name(`${tag.slice(0, 4)}${type}`);
    return Buffer.from(message.toString('latin1').replaceAll(name(tag), other), 'latin1');
  };

  test.each(['0003', '000B', '0102'])(
    'has all but the property whose value is of type %s and no text',
    async (type) => {
      for (const changed of ['001A001F', ...Object.keys(PROPERTIES)]) {
        const { text, receipt } = await readBlocks('msg', retyped(complete, changed, type));
        const said = JSON.stringify([text, receipt]);
        const lost = Object.entries(PROPERTIES).filter(([, value]) => !said.includes(value));
        expect(lost.map(([tag]) => tag)).toEqual(changed in PROPERTIES ? [changed] : []);
        expect(said.includes('Inner subject')).toBe(changed !== '0037001F');
        expect(said.includes('Inner body')).toBe(changed !== '1000001F');
      }
    },
  );

  test('takes a text for no HTML in bytes, no RTF, no code page and no date', async () => {
    const body = { subject: 'One', html: '<p>HTML</p>', rtf: stored('{\\rtf1 RTF}') };
    const rtf = retyped(Buffer.from(outlookMessage(body)), '10130102', '0003');
    expect((await readBlocks('msg', rtf)).text).toBe('One\n\nRTF\n\n');
    const neither = await readBlocks('msg', retyped(rtf, '10090102', '001F'));
    expect(neither.receipt.gap_counts).toEqual({ empty: 1 });
    const number = Buffer.alloc(8, 0xff);
    const streams = { '__substg1.0_3FFD0102': number, '__substg1.0_0039001F': Buffer.from('no', 'utf16le') };
    const plain = await readBlocks('msg', outlookMessage({ body: 'Text.', streams }));
    expect(plain.text).toBe('Text.\n\n');
  });

  test('is read where a text ends within a letter, and numbers are cut off', async () => {
    const streams = {
      '__substg1.0_0037001F': Buffer.from('Subject\0', 'utf16le').subarray(0, 15),
      '__substg1.0_3FFD0003': Buffer.alloc(3),
      '__substg1.0_3FDE000B': Buffer.alloc(1),
      '__substg1.0_00390040': Buffer.alloc(4),
    };
    const { text } = await readBlocks('msg', outlookMessage({ body: 'Text.', streams }));
    expect(text).toBe('Subject\n\nText.\n\n');
  });

  test('fails as corrupt where its RTF says that it is very long', async () => {
    const header = Buffer.alloc(40);
    header.writeUInt32LE(0x7fff_ffff, 0);
    header.writeUInt32LE(0x7fff_ffff, 4);
    header.writeUInt32LE(0x75_465a_4c, 8);
    await expectCorrupt(outlookMessage({ rtf: header }));
  });
});
