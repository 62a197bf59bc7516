/** Numbers that depend on nothing but a seed, so that decisions made with them can be repeated. */
export interface Random {
  /** In [0, 1). */
  readonly fraction: () => number;
  /** From `min` to `max`, both included. */
  readonly whole: (min: number, max: number) => number;
  readonly chance: (probability: number) => boolean;
  readonly pick: <Item>(items: readonly [Item, ...Item[]]) => Item;
  /** One of them, or undefined when there is none. */
  readonly pickAny: <Item>(items: readonly Item[]) => Item | undefined;
  /** By weights that need not add up to anything. */
  readonly weighted: <Name extends string>(weights: Readonly<Record<Name, number>>) => Name;
  /** Another stream of numbers, which does not change with how many of this one were drawn. */
  readonly branch: (name: string) => Random;
}

export function createRandom(seed: string): Random {
  const fraction = mulberry32(hashOf(seed));
  const whole = (min: number, max: number) => min + Math.floor(fraction() * (max - min + 1));
  const pickAny = <Item>(items: readonly Item[]) => items[whole(0, items.length - 1)];
  return {
    fraction,
    whole,
    pickAny,
    chance: (probability) => fraction() < probability,
    pick: (items) => pickAny(items) ?? items[0],
    weighted: <Name extends string>(weights: Readonly<Record<Name, number>>): Name => {
      // @NOTE the keys of a record of names are the same names.
      const entries = Object.entries(weights) as [Name, number][];
      const total = entries.reduce((sum, [, weight]) => sum + weight, 0);
      let left = fraction() * total;
      for (const [name, weight] of entries) {
        left -= weight;
        if (left < 0) return name;
      }
      const [last] = entries.at(-1) ?? [];
      if (last === undefined) throw new Error('nothing to choose from');
      return last;
    },
    branch: (name) => createRandom(`${seed}/${name}`),
  };
}

/** FNV-1a. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (const unit of Buffer.from(text)) hash = Math.imul(hash ^ unit, 0x01000193);
  return hash >>> 0;
}

/** The generator of that name by Tommy Ettinger, public domain. */
function mulberry32(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
