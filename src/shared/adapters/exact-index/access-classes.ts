import type { AccessLists } from '../../access.js';
import type { AccessClass } from './mirrored.js';

/** Interns access lists: documents with the same lists share one class while there are any. */
export interface AccessClasses {
  acquire(lists: AccessLists): AccessClass;
  release(accessClass: AccessClass): void;
}

export function createAccessClasses(): AccessClasses {
  const classes = new Map<string, { readonly accessClass: AccessClass; users: number }>();
  const keyOf = ({ readers, writers, admins }: AccessLists) => JSON.stringify([readers, writers, admins]);
  let nextId = 0;
  return {
    acquire: (lists) => {
      const key = keyOf(lists);
      let entry = classes.get(key);
      if (!entry) {
        const { readers, writers, admins } = lists;
        entry = { accessClass: { id: nextId, lists: { readers, writers, admins } }, users: 0 };
        nextId += 1;
        classes.set(key, entry);
      }
      entry.users += 1;
      return entry.accessClass;
    },
    release: ({ lists }) => {
      const key = keyOf(lists);
      const entry = classes.get(key);
      if (!entry) return;
      entry.users -= 1;
      if (entry.users === 0) classes.delete(key);
    },
  };
}
