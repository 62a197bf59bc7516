import { createContext, Script } from 'node:vm';

/**
 * Inputs of about `size` characters made of a grammar's tokens: each repeated, each pair alternating, one run behind the
 * other (nested, unbalanced), and all that with an end that makes the match fail at last.
 */
export function* attacks(
  { tokens, prefixes = [] }: Grammar,
  size: number,
): Generator<[name: string, text: string], undefined> {
  const fill = (unit: string) => unit.repeat(Math.max(1, Math.floor(size / unit.length)));
  const half = (unit: string) => fill(unit).slice(0, Math.max(unit.length, Math.floor(size / 2)));
  for (const one of tokens) {
    yield* withEnds(`${show(one)}…`, fill(one), tokens);
    for (const other of tokens) {
      if (one === other) continue;
      yield* withEnds(`${show(one + other)}…`, fill(one + other), tokens);
      yield* withEnds(`${show(one)}…${show(other)}…`, half(one) + half(other), []);
      yield [`${show(one)}${show(other)}…`, one + fill(other).slice(one.length)];
    }
    for (const prefix of prefixes) yield* withEnds(`${show(prefix)}${show(one)}…`, prefix + fill(one), []);
  }
  return undefined;
}

function* withEnds(name: string, text: string, ends: readonly string[]): Generator<[string, string]> {
  yield [name, text];
  yield [`${name}x\\0`, `${text.slice(2)}x\0`];
  for (const end of ends.slice(0, 3)) yield [`${name}${show(end)}`, text.slice(end.length) + end];
}

const show = (token: string): string => JSON.stringify(token).slice(1, -1);

/**
 * Milliseconds that an input may take at most, whatever its form: three times the 50 that the event loop may be held for,
 * because a processor that two tests share counts twice the time. What grows too fast shows by its growth.
 */
const BUDGET = 150;
/** A form of growth is told from noise only above this. */
const NOISE = 25;
/** By the clock, since nothing else can end it, in ms: long enough for what only has no processor. */
const HANGS = 20_000;

export interface Grammar {
  readonly tokens: readonly string[];
  /** The texts that have to come first for the rest to be looked at. */
  readonly prefixes?: readonly string[];
}

export interface Parser extends Grammar {
  readonly parse: (text: string) => unknown;
  /** Characters of the largest input that gets there. */
  readonly size: number;
  /** After how many milliseconds an input counts as one that never ends. */
  readonly hangs?: number;
}

/** Inputs that are tried under one guard, which costs as much as most of them take. */
const TOGETHER = 64;

/** The first input that takes a parser longer than it may, or that grows faster than it does; null where all is well. */
export function findSlow({ parse, size, hangs = HANGS, ...grammar }: Parser): string | null {
  let number = 0;
  for (const some of groupsOf(attacks(grammar, size), TOGETHER)) {
    const texts = some.map(([, text]) => text);
    const times = timesOf(parse, texts, hangs);
    for (const [i, [name, text]] of some.entries()) {
      const smaller = () => nth(attacks(grammar, size / 4), number + i)?.[1] ?? '';
      const found = (times?.[i] ?? Infinity) > NOISE && growthOf({ parse, text, smaller, hangs });
      if (found) return `${name}: ${found}`;
    }
    number += some.length;
  }
  return null;
}

interface Attack {
  readonly parse: (text: string) => unknown;
  readonly text: string;
  /** The same input at a quarter of the size. */
  readonly smaller: () => string;
  readonly hangs: number;
}

/** How an input is slow; null where it is not. A first run may meet the compiler or another process: slow is slow each time. */
function growthOf({ parse, text, smaller, hangs }: Attack): string | null {
  const timeOf = (one: string) => timesOf(parse, [one], hangs)?.[0] ?? hangs;
  for (let left = 5; ; left -= 1) {
    const many = timeOf(text);
    if (many <= NOISE) return null;
    const few = timeOf(smaller());
    if (many <= BUDGET && many <= 8 * few + NOISE) return null;
    if (left > 1 && many < hangs) continue;
    return `${few.toFixed(1)} ms, then ${many.toFixed(1)} ms at four times the size`;
  }
}

function* groupsOf<Item>(items: Iterable<Item>, length: number): Generator<Item[], undefined> {
  let group: Item[] = [];
  for (const item of items) {
    group.push(item);
    if (group.length < length) continue;
    yield group;
    group = [];
  }
  yield group;
  return undefined;
}

function nth<Item>(items: Iterable<Item>, wanted: number): Item | undefined {
  let number = 0;
  for (const item of items) {
    if (number === wanted) return item;
    number += 1;
  }
  return undefined;
}

const running: { run: () => void } = { run: () => undefined };
createContext(running);
const script = new Script('run()');

/** Processor time of each in ms, since a full machine lets everything wait. Ends work that would not end by itself: null. */
function timesOf(parse: (text: string) => unknown, texts: readonly string[], hangs: number): number[] | null {
  const times: number[] = [];
  running.run = () => {
    for (const text of texts) times.push(timeOf(() => parse(text)));
  };
  try {
    script.runInContext(running, { timeout: hangs });
    return times;
  } catch {
    return null;
  }
}

function timeOf(work: () => unknown): number {
  const before = process.cpuUsage();
  try {
    work();
  } catch {
    // Refusing is an answer, too.
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
