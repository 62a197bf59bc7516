import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { UnavailableError } from '../../../src/shared/errors.js';
import { createDecayedUsage } from '../../../src/shared/fair-scheduling/decayed-usage.js';
import { createTurns, type Turn, type Turns } from '../../../src/shared/fair-scheduling/turns.js';

const CALLERS = ['ann', 'bob', 'cid', 'dan'] as const;
const KINDS = ['urgent', 'other'] as const;

type Step =
  | { readonly type: 'ask'; readonly by: string; readonly kind: string; readonly hasBegun?: boolean }
  | { readonly type: 'end' | 'leave'; readonly which: number };

const ask = {
  type: fc.constant('ask' as const),
  by: fc.constantFrom(...CALLERS),
  kind: fc.constantFrom(...KINDS),
};
const others = fc.record({ type: fc.constantFrom('end' as const, 'leave' as const), which: fc.nat(50) });
const steps = fc.array(fc.oneof(fc.record(ask), others), { maxLength: 80 });
/** Enough requests come that the queue is full for most of the time. */
const crowd = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.record(ask) },
    { weight: 1, arbitrary: fc.record({ ...ask, hasBegun: fc.constant(true) }) },
    { weight: 2, arbitrary: others },
  ),
  { maxLength: 80 },
);

interface Asked {
  readonly by: string;
  readonly kind: string;
  readonly hasBegun: boolean;
  readonly controller: AbortController;
}

/** Asks for turns, ends and leaves as it is told, and keeps who waits and who has a turn. */
function drive(turns: Turns) {
  const waiting = new Set<Asked>();
  const running = new Map<Asked, Turn>();
  const refused: Asked[] = [];
  const settle = () => new Promise(setImmediate);
  const ask = (by: string, kind: string, hasBegun = false) => {
    const asked: Asked = { by, kind, hasBegun, controller: new AbortController() };
    waiting.add(asked);
    turns.enter({ by, kind, hasBegun, signal: asked.controller.signal }).then(
      (turn) => {
        waiting.delete(asked);
        running.set(asked, turn);
      },
      (error: unknown) => {
        waiting.delete(asked);
        if (error instanceof UnavailableError) refused.push(asked);
      },
    );
    return asked;
  };
  const endOne = (which: number) => {
    const entry = [...running][which % Math.max(1, running.size)];
    if (!entry) return;
    running.delete(entry[0]);
    entry[1].end();
    // To end it again changes nothing.
    entry[1].end();
  };
  const step = async (given: Step) => {
    if (given.type === 'ask') ask(given.by, given.kind, given.hasBegun);
    else if (given.type === 'end') endOne(given.which);
    else [...waiting][given.which % Math.max(1, waiting.size)]?.controller.abort(new Error('left'));
    await settle();
  };
  return { waiting, running, refused, ask, endOne, step, settle };
}

const ofCaller = (running: ReadonlyMap<Asked, Turn>, by: string) =>
  [...running.keys()].filter((each) => each.by === by).length;

interface Case {
  readonly name: string;
  readonly create: () => Turns;
  readonly most: number;
  readonly ofOne: number;
}

const cases: readonly Case[] = [
  { name: 'in turn', create: () => createTurns(3), most: 3, ofOne: 3 },
  {
    name: 'by use, with kinds',
    create: () => createTurns(2, { usage: createDecayedUsage(), kinds: KINDS, maxOvertaking: 3 }),
    most: 2,
    ofOne: 2,
  },
  { name: 'with shares', create: () => createTurns(4, { maxPerCaller: 2, maxAlone: 3 }), most: 4, ofOne: 3 },
  {
    name: 'with room for one who is alone',
    create: () => createTurns(2, { maxAlone: 4 }),
    most: 6,
    ofOne: 4,
  },
];

test.each(cases)(
  '$name: no more run than may, nobody waits while nobody runs, and all who wait come in the end',
  async ({ create, most, ofOne }) => {
    await fc.assert(
      fc.asyncProperty(steps, async (all) => {
        const turns = create();
        const driven = drive(turns);
        for (const each of all) {
          await driven.step(each);
          const { running, waiting } = driven;
          expect(running.size).toBeLessThanOrEqual(most);
          for (const by of CALLERS) expect(ofCaller(running, by)).toBeLessThanOrEqual(ofOne);
          expect(turns.figures()).toEqual({ running: running.size, waiting: waiting.size });
          if (waiting.size > 0) expect(running.size).toBeGreaterThan(0);
        }
        for (let n = 0; driven.running.size > 0; n += 1) {
          driven.endOne(n);
          await driven.settle();
        }
        expect(turns.figures()).toEqual({ running: 0, waiting: 0 });
        expect(driven.waiting.size).toBe(0);
      }),
      { numRuns: 60 },
    );
  },
  60_000,
);

test('callers in turn: whoever waits is passed by no other more than twice', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 3 }),
      fc.array(fc.constantFrom(...CALLERS), { minLength: 1, maxLength: 30 }),
      async (places, before) => {
        const driven = drive(createTurns(places));
        for (const by of before) driven.ask(by, 'other');
        const last = driven.ask('eve', 'other');
        await driven.settle();
        const passed = new Map<string, number>();
        let known = new Set(driven.running.keys());
        for (let n = 0; driven.waiting.has(last); n += 1) {
          // The others come again and again.
          driven.ask(before[n % before.length] ?? 'ann', 'other');
          driven.endOne(n);
          await driven.settle();
          for (const { by } of [...driven.running.keys()].filter((each) => !known.has(each)))
            passed.set(by, (passed.get(by) ?? 0) + 1);
          known = new Set(driven.running.keys());
        }
        passed.delete('eve');
        for (const times of passed.values()) expect(times).toBeLessThanOrEqual(2);
      },
    ),
    { numRuns: 100 },
  );
}, 60_000);

/** Returns the lines of waiting requests, by kind and then by caller, each in the order in which its requests came. */
const linesOf = (waiting: readonly Asked[]) =>
  KINDS.flatMap((kind) =>
    CALLERS.map((by) => waiting.filter((each) => each.kind === kind && each.by === by)),
  ).filter((line) => line.some(({ hasBegun }) => !hasBegun));

/** Whom a full queue may refuse of all these, of whom the last came just now. */
function mayBeRefused(waiting: readonly Asked[]): readonly Asked[] {
  const lines = linesOf(waiting);
  const most = Math.max(...lines.map((line) => line.length));
  const longest = lines.filter((line) => line.length === most);
  const kind = longest.at(-1)?.[0]?.kind;
  const newest = longest
    .filter(([first]) => first?.kind === kind)
    .flatMap((line) => line.findLast(({ hasBegun }) => !hasBegun) ?? []);
  const newcomer = waiting.at(-1);
  // A caller who came just now stands behind all others of the kind.
  return newcomer && most === 1 && newest.includes(newcomer) ? [newcomer] : newest;
}

test('a full queue refuses the newest of the longest line, of equal ones of the last kind, and holds no more than it may', async () => {
  await fc.assert(
    fc.asyncProperty(crowd, async (all) => {
      const turns = createTurns(1, { maxWaiting: 5, kinds: KINDS });
      const driven = drive(turns);
      for (const each of all) {
        const before = [...driven.waiting];
        driven.refused.length = 0;
        await driven.step(each);
        const isMore = each.type === 'ask' && 'hasBegun' in each;
        const now = turns.figures().waiting;
        expect(now).toBeLessThanOrEqual(Math.max(5, before.length + (isMore ? 1 : 0)));
        const [refused, ...more] = driven.refused;
        expect(more).toEqual([]);
        if (!refused) continue;
        expect(now).toBe(before.length);
        // The requests that waited before, and the one that came and waits now, or was refused at once.
        const wereThere = new Set([...before, ...driven.waiting, refused]);
        const allowed = mayBeRefused([...wereThere]);
        expect(allowed).toContain(refused);
      }
    }),
    { numRuns: 200 },
  );
}, 60_000);
