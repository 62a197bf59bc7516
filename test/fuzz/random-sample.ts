import { createRandom, type Random } from '../support/fuzz/random.js';
import { expectedOf } from './expected.js';
import { invisibleMark, madeUpWord, realSignMark, shiftedMark, symbolMark } from './marks.js';
import { randomTable } from './random-table.js';
import type { Part, Run, Sample } from './sample.js';
import { SENTENCES, type Language } from './sentences.js';

/** The abilities of a format, as far as its writer writes it. */
export interface Abilities {
  readonly languages: readonly Language[];
  /** True if the format itself may raise and lower texts. */
  readonly shifts?: boolean;
  /** The symbol fonts that can be written; none by default. */
  readonly fonts?: readonly string[];
  readonly headings?: boolean;
  readonly lists?: 'none' | 'bullets' | 'all';
  /** None, tables alone (as in CSV), or tables within texts. */
  readonly tables?: 'none' | 'only' | 'within';
  readonly spans?: boolean;
  /** True if the text of a cell that is merged over columns is read in each of them; otherwise in the first. */
  readonly repeatsOverColumns?: boolean;
  /** True if invisible characters can be written. */
  readonly unseen?: boolean;
  /** True if everything else beyond plain letters can be: signs of several characters, astral ones. */
  readonly joined?: boolean;
  /** Choices of the writer, each with the values that it may have. */
  readonly choices?: Readonly<Record<string, readonly (string | number | boolean)[]>>;
}

/** A document at random: the same seed gives the same one. */
export function randomSample(seed: number, abilities: Abilities): Sample {
  const random = createRandom(seed * 7_919 + 13);
  const choices = chosen(random, abilities.choices ?? {});
  const languages = languagesOf(random, abilities);
  const write = (): Run[] => randomRuns(random, { abilities, languages });
  const parts: Part[] = [];
  if (abilities.tables === 'only')
    parts.push(randomTable(random, { write, spans: abilities.spans === true }));
  else
    for (let left = 3 + random(4); left > 0; left -= 1) parts.push(randomPart(random, { abilities, write }));
  const title = `${madeUpWord(random)} ${sentence(random, languages)}`;
  const filled = apart(parts);
  return { document: { title, parts: filled, choices }, ...expectedOf(filled, abilities) };
}

/** A document is in one or two languages, as most are. */
function languagesOf(random: Random, { languages }: Abilities): readonly Language[] {
  const some = [languages[random(languages.length)] ?? 'en', languages[random(languages.length)] ?? 'en'];
  return random(3) === 0 ? some : some.slice(0, 1);
}

function chosen(random: Random, choices: NonNullable<Abilities['choices']>): Sample['document']['choices'] {
  return Object.fromEntries(
    Object.entries(choices).map(([name, values]) => [name, values[random(values.length)] ?? false]),
  );
}

interface PartOptions {
  readonly abilities: Abilities;
  readonly write: () => Run[];
}

function randomPart(random: Random, { abilities, write }: PartOptions): Part {
  const kind = random(10);
  if (kind === 0 && abilities.headings === true)
    return {
      kind: 'heading',
      level: 1 + random(3),
      runs: [{ text: `${madeUpWord(random)} ${madeUpWord(random)}` }],
    };
  const { lists = 'none' } = abilities;
  if (kind <= 2 && lists !== 'none')
    return {
      kind: 'list',
      isOrdered: lists === 'all' && random(2) === 0,
      items: Array.from({ length: 2 + random(3) }, write),
    };
  if (kind <= 5 && abilities.tables === 'within')
    return randomTable(random, { write, spans: abilities.spans === true });
  return { kind: 'paragraph', runs: write() };
}

/** Two tables or lists in a row would be one in some formats. */
function apart(parts: readonly Part[]): Part[] {
  return parts.flatMap((part, index) => {
    const isBeside = part.kind === parts[index - 1]?.kind && (part.kind === 'table' || part.kind === 'list');
    return isBeside ? [{ kind: 'paragraph' as const, runs: [{ text: 'Between the two.' }] }, part] : [part];
  });
}

interface RunOptions {
  readonly abilities: Abilities;
  readonly languages: readonly Language[];
}

/** A sentence or two, with a mark now and then. */
function randomRuns(random: Random, { abilities, languages }: RunOptions): Run[] {
  const runs: Run[] = [];
  for (let left = 1 + random(2); left > 0; left -= 1) {
    if (runs.length > 0) runs.push({ text: ' ' });
    runs.push(...emphasized(random, sentence(random, languages)));
    const mark = random(2) === 0 ? randomMark(random, abilities) : undefined;
    if (mark) runs.push({ text: ' ' }, ...mark);
  }
  return runs;
}

function sentence(random: Random, languages: readonly Language[]): string {
  const sentences: readonly string[] = SENTENCES[languages[random(languages.length)] ?? 'en'];
  return sentences[random(sentences.length)] ?? '';
}

/** A sentence as one run, or as three, of which the middle one may begin and end within a word. */
function emphasized(random: Random, text: string): Run[] {
  if (random(3) > 0) return [{ text }];
  const characters = [...text];
  const start = 1 + random(Math.max(1, characters.length - 4));
  const end = start + 1 + random(characters.length - start - 1);
  return [
    { text: characters.slice(0, start).join('') },
    { text: characters.slice(start, end).join(''), bold: true },
    { text: characters.slice(end).join('') },
  ].filter((run) => run.text !== '');
}

function randomMark(
  random: Random,
  { shifts, fonts = [], unseen, joined }: Abilities,
): readonly Run[] | undefined {
  const makers = [
    ...(shifts === true ? [shiftedMark, shiftedMark] : []),
    ...(fonts.length > 0 ? [() => symbolMark(random, fonts)] : []),
    ...(unseen === true ? [() => invisibleMark(random, { joins: joined === true })] : []),
    ...(joined === true ? [realSignMark] : []),
  ];
  return makers[random(makers.length)]?.(random);
}
