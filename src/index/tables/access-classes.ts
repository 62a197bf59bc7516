import type { AccessLists } from '../../shared/access/access.js';

/** The access lists of documents with the same lists, so that access is decided once for all of them. */
export interface AccessClass {
  readonly id: number;
  readonly key: string;
  readonly lists: AccessLists;
}

/** Shares access lists: documents with the same lists have one class, which exists as long as a document has it. */
export interface AccessClasses {
  /** @param key text that is equal for equal lists */
  acquire(key: string, lists: AccessLists): AccessClass;
  release(accessClass: AccessClass): void;
}

export function createAccessClasses(): AccessClasses {
  const classes = new Map<string, { readonly accessClass: AccessClass; users: number }>();
  let nextId = 0;
  return {
    acquire: (key, { readers, writers, admins }) => {
      let entry = classes.get(key);
      if (!entry) {
        entry = { accessClass: { id: nextId, key, lists: { readers, writers, admins } }, users: 0 };
        nextId += 1;
        classes.set(key, entry);
      }
      entry.users += 1;
      return entry.accessClass;
    },
    release: ({ key }) => {
      const entry = classes.get(key);
      if (!entry) return;
      entry.users -= 1;
      if (entry.users === 0) classes.delete(key);
    },
  };
}
