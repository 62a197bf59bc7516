import type { AppTypes } from './app.js';

/** The access of documents that have the same, so that it is decided once for all of them. */
export interface AccessClass<App extends AppTypes = AppTypes> {
  readonly id: number;
  readonly key: string;
  readonly access: App['access'];
}

/** Shares access: documents with the same have one class, which exists as long as a document has it. */
export interface AccessClasses<App extends AppTypes> {
  /** @param key text that is equal for equal access */
  acquire(key: string, access: App['access']): AccessClass<App>;
  release(accessClass: AccessClass<App>): void;
}

export function createAccessClasses<App extends AppTypes>(): AccessClasses<App> {
  const classes = new Map<string, { readonly accessClass: AccessClass<App>; users: number }>();
  let nextId = 0;
  return {
    acquire: (key, access) => {
      let entry = classes.get(key);
      if (!entry) {
        entry = { accessClass: { id: nextId, key, access }, users: 0 };
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
