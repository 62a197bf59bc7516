import { expect } from '@jest/globals';
import type { DocumentRight } from '../../src/shared/access/access.js';
import { NO_LISTS, type Shared, type SharingLists } from '../../src/shared/access/sharing.js';
import { createRandom, type Random } from '../chaos/random.js';
import { isAllowed, isWanted, type OpenTo } from './access-oracle.js';
import type { Client, WireDocument } from './client.js';

/** A document as its lists were written last. */
export interface Held {
  readonly id: string;
  readonly ownerId: string;
  readonly word: string;
  named: OpenTo;
  /** Who has left it, whatever the lists say. */
  readonly left: Set<string>;
  isThere: boolean;
}

export interface Person {
  readonly id: string;
  readonly client: Client;
  lists: SharingLists;
}

const NAMES = ['ann', 'bob', 'eve', 'dan'];
const WORDS = ['quartz', 'topaz', 'beryl', 'agate', 'jasper', 'garnet'];
/** So many are named together by one tag. */
const CROWD = Array.from({ length: 20 }, (_, i) => `crowd-${String(i)}`);
const LISTS = ['readers', 'writers', 'admins'] as const;
const DONE = [200, 202];
/** A wait in which tags of chunks are rewritten. */
const PATIENT = { prefer: 'wait=60' };

/** Random people, documents and lists, over HTTP and in a model, where each step is what a reader of the docs expects. */
export async function openAccessWorld(seed: number, user: (name: string) => Omit<Person, 'lists'>) {
  const random = createRandom(`access ${String(seed)}`);
  const people: Person[] = NAMES.map((name) => ({ ...user(`${name}-${String(seed)}`), lists: NO_LISTS }));
  const documents: Held[] = [];
  const world = { random, people, documents };
  for (const [i, word] of WORDS.entries()) documents.push(await create(world, word, i % 3 === 2));
  return {
    people,
    documents,
    may: (person: Person, right: DocumentRight, held: Held) =>
      held.isThere && isAllowed(person.id, right, openTo(held)),
    finds: (person: Person, held: Held, shared: Shared) =>
      held.isThere && isAllowed(person.id, 'read', openTo(held)) && wants(person, held, shared),
    /** A choice of the person about documents of others. */
    anyShared: () => random.pick<Shared>(['all', 'accepted', 'own']),
    change: async (steps: number) => {
      for (let step = 0; step < steps; step += 1) await changeAny(world);
    },
  };
}

interface World {
  readonly random: Random;
  readonly people: readonly Person[];
  readonly documents: readonly Held[];
}

function openTo({ named, left }: Held): OpenTo {
  const staying = (list: readonly string[]) => list.filter((id) => !left.has(id));
  return { readers: staying(named.readers), writers: staying(named.writers), admins: staying(named.admins) };
}

const wants = ({ id, lists }: Person, { ownerId, id: documentId }: Held, shared: Shared) =>
  isWanted(id, { ownerId, documentId }, { shared, lists });

async function create({ random, people }: World, word: string, isFile: boolean): Promise<Held> {
  const owner = anyOf(random, people);
  const text = `The ${word} lies in the drawer.`;
  const made = isFile
    ? await owner.client.ingestFile(Buffer.from(text), `${word}.md`, PATIENT)
    : await owner.client.ingestText(text, {}, PATIENT);
  expect([word, made.status]).toEqual([word, 200]);
  const { external_id: id } = made.body;
  const own = { readers: [owner.id], writers: [owner.id], admins: [owner.id] };
  const held: Held = { id, ownerId: owner.id, word, named: own, left: new Set(), isThere: true };
  await share({ random, people }, held, owner);
  return held;
}

/** Writes random lists, on which the owner need not be. */
async function share({ random, people }: Omit<World, 'documents'>, held: Held, by: Person): Promise<void> {
  const some = () => people.filter(() => random.chance(0.3)).map(({ id }) => id);
  // Somebody who has not left must be able to change it again.
  const admins = [...new Set([by.id, ...some()])];
  const named = { readers: [...some(), ...(random.chance(0.4) ? CROWD : [])], writers: some(), admins };
  const kept = random.chance(0.3) ? named : { ...named, admins: [anyAdmin(random, held, admins)] };
  const answer = await by.client.patch<WireDocument>(`/documents/${held.id}`, { access_control: kept });
  expect(DONE).toContain(answer.status);
  held.named = kept;
}

const anyAdmin = (random: Random, { left }: Held, admins: readonly string[]): string =>
  random.pickAny(admins.filter((id) => !left.has(id))) ?? '';

function anyOf<Item>(random: Random, items: readonly Item[]): Item {
  const item = random.pickAny(items);
  if (item === undefined) throw new Error('nothing to choose from');
  return item;
}

async function changeAny(world: World): Promise<void> {
  const { random, people, documents } = world;
  const [person, held, other] = [anyOf(random, people), anyOf(random, documents), anyOf(random, people)];
  const kind = random.weighted({ share: 4, leave: 3, accept: 3, block: 2, trust: 2, remove: 1 });
  switch (kind) {
    case 'share': {
      const admin = people.find(({ id }) => openTo(held).admins.includes(id));
      return held.isThere && admin ? share(world, held, admin) : undefined;
    }
    case 'leave':
      return leave(person, held);
    case 'accept':
      return accept(person, held);
    case 'block':
    case 'trust':
      return listOwner(person, other, kind);
    case 'remove': {
      const { status } = await person.client.delete(`/documents/${held.id}`);
      const isAdmitted = isAllowed(person.id, 'write', openTo(held));
      expect(status).toBe(held.isThere ? (isAdmitted ? 200 : 403) : 404);
      if (status === 200) held.isThere = false;
    }
  }
}

const isMember = ({ id }: Person, held: Held) => held.left.has(id) || isAllowed(id, 'read', openTo(held));

async function leave(person: Person, held: Held): Promise<void> {
  const { status } = await person.client.post(`/documents/${held.id}/leave`);
  const hasLeft = held.left.has(person.id);
  const mustStay = held.ownerId === person.id || openTo(held).admins.every((id) => id === person.id);
  const refusal = !held.isThere ? 404 : !isMember(person, held) ? 403 : mustStay && !hasLeft ? 409 : null;
  expect(status).toBe(refusal ?? 200);
  if (refusal !== null) return;
  held.left.add(person.id);
  const acceptedDocuments = person.lists.acceptedDocuments.filter((id) => id !== held.id);
  person.lists = { ...person.lists, acceptedDocuments };
}

async function accept(person: Person, held: Held): Promise<void> {
  const { status } = await person.client.post(`/documents/${held.id}/accept`, {}, PATIENT);
  const refusal = !held.isThere ? 404 : !isMember(person, held) ? 403 : null;
  expect(status).toBe(refusal ?? 200);
  if (refusal !== null) return;
  held.left.delete(person.id);
  if (held.ownerId === person.id) return;
  person.lists = { ...person.lists, acceptedDocuments: [...person.lists.acceptedDocuments, held.id] };
}

async function listOwner(person: Person, owner: Person, kind: 'block' | 'trust'): Promise<void> {
  const list = kind === 'block' ? 'blocked' : 'accepted';
  const { status } = await person.client.put(`/sharing/${list}/${encodeURIComponent(owner.id)}`, {});
  expect(status).toBe(owner.id === person.id ? 409 : 200);
  if (status !== 200) return;
  const others = (ids: readonly string[]) => ids.filter((id) => id !== owner.id);
  const { blockedOwners, acceptedOwners, acceptedDocuments } = person.lists;
  const [blocked, accepted] = [others(blockedOwners), others(acceptedOwners)];
  person.lists =
    kind === 'block'
      ? { blockedOwners: [...blocked, owner.id], acceptedOwners: accepted, acceptedDocuments }
      : { blockedOwners: blocked, acceptedOwners: [...accepted, owner.id], acceptedDocuments };
}

/** Tries to change a document in every way, and tells which worked. Ways that would end it are tried without the right only. */
export async function tryToChange(
  { client }: Person,
  { id, named }: Held,
  { mayWrite }: { readonly mayWrite: boolean },
): Promise<Readonly<Record<string, boolean>>> {
  const path = `/documents/${id}`;
  const lists = Object.fromEntries(LISTS.map((list) => [list, named[list]]));
  const isDone = async (answer: Promise<{ readonly status: number }>) => {
    const { status } = await answer;
    expect([...DONE, 403, 404]).toContain(status);
    return DONE.includes(status);
  };
  return {
    patched: await isDone(client.patch(path, { metadata: {} })),
    cancelled: await isDone(client.post(`${path}/cancel`)),
    retried: await isDone(client.post(`${path}/retry`)),
    opened: await isDone(client.patch(path, { access_control: lists })),
    replaced: !mayWrite && (await isDone(client.put(`${path}/content`, { content: 'stolen' }))),
    removed: !mayWrite && (await isDone(client.delete(path))),
  };
}
