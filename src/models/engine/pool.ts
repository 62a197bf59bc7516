/** Lends items that are not in use. There must be as many turns as there are items. */
export interface Pool<Item> {
  lend<Result>(task: (item: Item) => Promise<Result>): Promise<Result>;
}

export function createPool<Item>(items: readonly Item[]): Pool<Item> {
  const free = [...items];
  return {
    lend: async (task) => {
      const item = free.pop();
      if (item === undefined) throw new Error('more turns than items to lend');
      try {
        return await task(item);
      } finally {
        free.push(item);
      }
    },
  };
}
