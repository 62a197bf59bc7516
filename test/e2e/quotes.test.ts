import { beforeAll, describe, expect, test } from '@jest/globals';
import type { Client } from '../support/client.js';
import { drawPdf, lines as drawn } from '../support/drawn-pdf.js';
import { writeMail } from '../support/mail.js';
import { officePackage, root, type Relation } from '../support/office-packages.js';
import { folded, sampleFiles } from '../support/sample-files.js';
import { PHRASE_PLACES } from '../support/sample-places.js';
import { scanLines, toPdf } from '../support/scans.js';
import { EVERYDAY } from '../support/shared/environments.js';
import { useService } from '../support/shared/use-service.js';
import { grid, workbook } from '../support/workbooks.js';

/** A line of a sentence. */
interface BrokenLine {
  readonly text: string;
  readonly sentence: string;
}

/** A line on a page: the left end and the height of its baseline, in points from the top left corner. */
interface DrawnLine extends BrokenLine {
  readonly page: number;
  readonly x: number;
  readonly y: number;
}

/** A part of a file that its format names, with the text in it: a page, a slide, a row, a line, a message. */
interface Place {
  readonly place: Readonly<Record<string, unknown>>;
  readonly text: string;
}

interface Written {
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly places: readonly Place[];
  readonly drawn?: readonly DrawnLine[];
  /** The text is recognised, which may get letters wrong: sentences are known by their numbers. */
  readonly isRead?: boolean;
}

interface Question {
  readonly question: string;
  /** Words of the sentence that answers it. */
  readonly fact: string;
  readonly file: string;
}

const THINGS = (
  'lighthouse windmill granary tannery brewery foundry orchard quarry ferry bakery chapel aqueduct cooperage smithy ' +
  'dairy sawmill vineyard armoury pottery cannery observatory ropewalk saltworks glassworks apiary library telegraph hospice stables'
).split(' ');
const sentenceOf = (thing: string, number: number): string =>
  `The ${thing} recorded ${String(number)} barrels of its goods in the winter ledger.`;
const questions: Question[] = [];

/** Takes the next things, and asks for each of their sentences. */
function facts(count: number, file: string): string[] {
  return Array.from({ length: count }, () => {
    const at = questions.length;
    const thing = THINGS[at];
    if (thing === undefined) throw new Error('there are not enough things');
    const fact = sentenceOf(thing, 1017 + 13 * at);
    questions.push({
      question: `How many barrels did the ${thing} record in the winter ledger?`,
      fact,
      file,
    });
    return fact;
  });
}

/** Sentences that are no answer, each once in all files. */
let fillers = 0;
function filler(count: number): string[] {
  return Array.from({ length: count }, () => {
    fillers += 1;
    return `Remark ${String(fillers)} concerns the weather over the eastern hills on that day.`;
  });
}

const placesOf = (key: string, texts: readonly string[]): Place[] =>
  texts.map((text, index) => ({ place: { [key]: index + 1 }, text }));

/** Pages of lines with a fact in the middle of each; every third fact is broken over two lines. */
function pagesFile(name: string): Written {
  const pages = facts(7, name).map((fact, index) => {
    const at = fact.indexOf(' in the winter');
    const broken = index % 3 === 0 ? [fact.slice(0, at), fact.slice(at + 1)] : [fact];
    return [
      ...whole(filler(14 + index)),
      ...broken.map((text) => ({ text, sentence: fact })),
      ...whole(filler(20)),
    ];
  });
  return {
    name,
    bytes: drawPdf({ pages: pages.map((broken) => ({ content: drawn(60, 742, textsOf(broken)) })) }),
    places: placesOf(
      'page',
      pages.map((broken) => textsOf(broken).join('\n')),
    ),
    drawn: pages.flatMap((broken, page) =>
      drawnLines(broken, { page: page + 1, x: 60, top: 50, leading: 12 }),
    ),
  };
}

interface Column {
  readonly page: number;
  readonly x: number;
  readonly top: number;
  readonly leading: number;
}
const drawnLines = (broken: readonly BrokenLine[], { page, x, top, leading }: Column): DrawnLine[] =>
  broken.map((line, index) => ({ ...line, page, x, y: top + leading * index }));
const whole = (sentences: readonly string[]): BrokenLine[] =>
  sentences.map((sentence) => ({ text: sentence, sentence }));
const textsOf = (broken: readonly BrokenLine[]): string[] => broken.map(({ text }) => text);

/** Two pages of two columns; sentences are broken as narrow columns do. */
function columnsFile(name: string): Written {
  const columns = facts(4, name).map((fact) =>
    [...filler(6), fact, ...filler(6)].flatMap((sentence) =>
      wrapped(sentence, 40).map((text) => ({ text, sentence })),
    ),
  );
  const [first = [], second = [], third = [], fourth = []] = columns;
  const pages = [[first, second] as const, [third, fourth] as const];
  return {
    name,
    bytes: drawPdf({
      pages: pages.map(([left, right]) => ({
        content: drawn(50, 742, textsOf(left)) + drawn(330, 742, textsOf(right)),
      })),
    }),
    places: placesOf(
      'page',
      pages.map(([left, right]) => textsOf([...left, ...right]).join('\n')),
    ),
    drawn: pages.flatMap(([left, right], page) => [
      ...drawnLines(left, { page: page + 1, x: 50, top: 50, leading: 12 }),
      ...drawnLines(right, { page: page + 1, x: 330, top: 50, leading: 12 }),
    ]),
  };
}

function wrapped(sentence: string, width: number): string[] {
  const broken: string[] = [];
  for (const word of sentence.split(' ')) {
    const last = broken.pop();
    if (last === undefined) broken.push(word);
    else if (last.length + word.length < width) broken.push(`${last} ${word}`);
    else broken.push(last, word);
  }
  return broken;
}

async function scannedFile(name: string): Promise<Written> {
  const pages = facts(3, name).map((fact) => [...filler(4), fact, ...filler(4)]);
  const scans = await Promise.all(pages.map((texts) => scanLines(200, texts)));
  return {
    name,
    bytes: toPdf(scans),
    places: placesOf(
      'page',
      pages.map((texts) => texts.join('\n')),
    ),
    drawn: pages.flatMap((texts, page) =>
      drawnLines(whole(texts), { page: page + 1, x: 60, top: 92, leading: 18 }),
    ),
    isRead: true,
  };
}

function wordFile(name: string): Written {
  const texts = facts(3, name).flatMap((fact) => [...filler(5), fact]);
  const body = texts.map((text) => `<w:p><w:r><w:t>${text}</w:t></w:r></w:p>`).join('');
  return {
    name,
    bytes: officePackage({
      parts: { 'word/document.xml': root('w:document', `<w:body>${body}</w:body>`) },
      relations: { '': [['rId1', 'officeDocument', 'word/document.xml']] },
    }),
    places: [{ place: {}, text: texts.join('\n') }],
  };
}

function workbookFile(name: string): Written {
  const rows = facts(3, name).flatMap((fact) => [...filler(3), fact]);
  const texts = ['Sentence', ...rows];
  return {
    name,
    bytes: workbook({ sheets: [{ name: 'Ledger', rows: grid(texts.map((text, row) => [text, row])) }] }),
    places: texts.map((text, row) => ({
      place: { sheet: 'Ledger', rows: { first: row + 1, last: row + 1 } },
      text: `${text} | ${String(row)}`,
    })),
  };
}

function slidesFile(name: string): Written {
  const slides = facts(3, name).map((fact) => [...filler(2), fact]);
  const paragraphs = (texts: readonly string[]): string =>
    texts.map((text) => `<a:p><a:r><a:t>${text}</a:t></a:r></a:p>`).join('');
  const part = (index: number): string => `ppt/slides/slide${String(index + 1)}.xml`;
  const ids = slides.map((_, index) => `<p:sldId id="${String(256 + index)}" r:id="s${String(index)}"/>`);
  return {
    name,
    bytes: officePackage({
      parts: {
        'ppt/presentation.xml': root('p:presentation', `<p:sldIdLst>${ids.join('')}</p:sldIdLst>`),
        ...Object.fromEntries(
          slides.map((texts, index) => [
            part(index),
            root(
              'p:sld',
              `<p:cSld><p:spTree><p:sp><p:txBody>${paragraphs(texts)}</p:txBody></p:sp></p:spTree></p:cSld>`,
            ),
          ]),
        ),
      },
      relations: {
        '': [['rId1', 'officeDocument', 'ppt/presentation.xml']],
        'ppt/presentation.xml': slides.map((_, i): Relation => [`s${String(i)}`, 'slide', `/${part(i)}`]),
      },
    }),
    places: placesOf(
      'slide',
      slides.map((texts) => texts.join('\n')),
    ),
  };
}

function textFile(name: string): Written {
  const texts = facts(3, name).flatMap((fact) => [...filler(4), fact]);
  return { name, bytes: Buffer.from(texts.join('\n')), places: placesOf('line', texts) };
}

function mailFile(name: string): Written {
  const text = facts(2, name)
    .flatMap((fact) => [...filler(3), fact])
    .join('\r\n');
  return {
    name,
    bytes: writeMail({ subject: 'Winter', text }),
    places: [{ place: {}, text }],
  };
}

const samples = sampleFiles().filter(
  ({ file, expected, phrase }) =>
    expected === 'found' && phrase.split(' ').length > 3 && PHRASE_PLACES[file]?.pages !== undefined,
);

interface Quote {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  readonly page?: number;
  readonly boxes?: readonly {
    readonly page: number;
    readonly x: number;
    readonly y: number;
    readonly width: number;
    readonly height: number;
  }[];
}
interface Source {
  readonly document_id: string;
  readonly chunk_number: number;
  readonly filename: string;
  readonly text: string;
  readonly quotes: readonly Quote[];
}

const service = useService({ env: EVERYDAY });
let client: Client;
const files = new Map<string, Written>();
const ids = new Map<string, string>();

beforeAll(async () => {
  client = service.client('reader');
  const written = [
    pagesFile('ledger.pdf'),
    columnsFile('columns.pdf'),
    await scannedFile('scan.pdf'),
    wordFile('ledger.docx'),
    workbookFile('ledger.xlsx'),
    slidesFile('ledger.pptx'),
    textFile('ledger.txt'),
    mailFile('winter.eml'),
  ];
  for (const file of written) files.set(file.name, file);
  const sent = [...written, ...samples.map(({ file, read }) => ({ name: file, bytes: read() }))];
  for (const { name, bytes } of sent) {
    const { status, body } = await client.ingestFile(bytes, name, { prefer: 'wait=120' });
    expect([name, status]).toEqual([name, 200]);
    ids.set(name, body.external_id);
  }
});

/** Asks of one document, and returns what is quoted of it. */
async function quotesOf(question: string, file: string): Promise<{ source: Source; quote: Quote }[]> {
  const { status, body } = await client.post<{ sources: Source[] }>('/query', {
    query: question,
    filters: { external_id: ids.get(file) },
  });
  expect(status).toBe(200);
  return body.sources.flatMap((source) => source.quotes.map((quote) => ({ source, quote })));
}

/** Text without any blanks: lines may be joined with one or none. */
const dense = (text: string): string => folded(text).replace(/\s/g, '');

/** Expects what every quote promises: it is a part of its passage, and the passage that of the document. */
async function expectVerbatim({ source, quote }: { source: Source; quote: Quote }): Promise<void> {
  expect(source.text.slice(quote.start, quote.end)).toBe(quote.text);
  const path = `/documents/${source.document_id}/chunks?limit=1&skip=${String(source.chunk_number)}`;
  const { body } = await client.get<{ content: string }[]>(path);
  expect(body[0]?.content).toBe(source.text);
}

/** Expects that the rectangles of a quote hold the lines of its sentence, and no other line. */
function expectBoxes({ text, boxes = [] }: Quote, { drawn: all = [], isRead = false }: Written): void {
  const inside = all.filter(({ page, x, y }) =>
    boxes.some(
      (box) =>
        box.page === page &&
        box.x <= x + 3 &&
        x < box.x + box.width &&
        box.y < y - 1 &&
        y - 1 < box.y + box.height,
    ),
  );
  expect(inside).toEqual(all.filter(({ sentence }) => isSame(sentence, text, isRead)));
}

/** Recognised text may have a wrong letter; each sentence has a number of its own. */
const isSame = (sentence: string, quoted: string, isRead: boolean): boolean =>
  isRead
    ? sentence.includes(` ${/\d+/.exec(quoted)?.[0] ?? '-'} `)
    : dense(quoted).includes(dense(sentence)) || dense(sentence).includes(dense(quoted));

describe('an answer proves itself', () => {
  test.each(Array.from({ length: THINGS.length - 1 }, (_, index) => index))(
    'question %i is answered with the sentence, where it stands',
    async (index) => {
      const asked = questions[index];
      const file = files.get(asked?.file ?? '');
      if (!asked || !file) throw new Error(`there is no question ${String(index)}`);
      const found = await quotesOf(asked.question, file.name);
      const [number = ''] = /\d+/.exec(asked.fact) ?? [];
      expect(found.some(({ quote }) => quote.text.includes(number))).toBe(true);
      for (const each of found) {
        await expectVerbatim(each);
        const said = dense(each.quote.text);
        const own = file.places.filter(({ text }) =>
          file.isRead ? isSame(text, said, true) : dense(text).includes(said),
        );
        expect([each.quote.text, own.length]).toEqual([each.quote.text, 1]);
        expect(each.quote).toMatchObject(own[0]?.place ?? {});
        if (file.drawn) expectBoxes(each.quote, file);
      }
    },
  );

  // Real files, whose phrases were found on these pages by other means than the parsers.
  (samples.length > 0 ? test.each(samples) : test.skip.each(['no sample file']))(
    'a phrase of %s is quoted with its page',
    async (sample) => {
      if (typeof sample === 'string') return;
      const found = await quotesOf(sample.phrase, sample.file);
      const pages = PHRASE_PLACES[sample.file]?.pages ?? [];
      for (const each of found) await expectVerbatim(each);
      const holding = found.filter(({ quote }) => folded(quote.text).includes(folded(sample.phrase)));
      expect(holding.length).toBeGreaterThan(0);
      for (const { quote } of holding) expect(pages).toContain(quote.page);
    },
  );
});
