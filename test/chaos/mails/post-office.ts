import { setTimeout as sleep } from 'node:timers/promises';
import { documentView } from '../../../src/api/routes/document-view.js';
import { ask, type Actor, type TimedOutcome } from '../arena.js';
import { patience } from '../operations/ingest.js';
import { writeMessage, type Message } from './write-message.js';

/** A document of a message, as far as it was answered. */
export interface Posted {
  readonly id: string;
  /** The removal by its owner: asked for, or answered as done. */
  removal: 'none' | 'asked' | 'done';
  /** Changes of access that are under way, or were answered with an error or not at all: then one has to be repeated. */
  openAccess: number;
}

export type PostOffice = ReturnType<typeof createPostOffice>;

/** The owner of the messages, and who may read some of them. Nobody else has to do with them. */
export const POSTMASTER = 'mia';
export const NEIGHBOUR = 'noah';

export function createPostOffice() {
  return {
    posted: new Map<string, Posted>(),
    /** By digest: everything that was sent. */
    messages: new Map<string, Message>(),
  };
}

/** Messages that there are at most. */
const MAX = 40;

const DOINGS = { post: 6, replace: 5, access: 4, delete: 2, cancel: 3, retry: 1 } as const;

/** Puts in messages with attachments, changes and removes them, until it is told to stop. */
export async function runPostOffice(actor: Actor, office: PostOffice, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await act(actor, office);
    await sleep(actor.random.whole(50, 400));
  }
}

async function act(actor: Actor, office: PostOffice): Promise<void> {
  const { random } = actor;
  const left = [...office.posted.values()].filter(({ removal }) => removal === 'none');
  const [oldest] = left;
  // A long run does not grow.
  if (oldest && left.length > MAX) return remove(actor, oldest);
  const mail = random.pickAny(random.chance(0.8) ? left.slice(-4) : left);
  const doing = random.weighted(DOINGS);
  if (!mail || doing === 'post') return post(actor, office);
  switch (doing) {
    case 'replace':
      return replace(actor, office, mail);
    case 'access':
      return changeAccess(actor, mail);
    case 'delete':
      return remove(actor, mail);
    case 'cancel':
    case 'retry':
      await send(actor, mail.id, { method: 'POST', path: `/documents/${mail.id}/${doing}`, label: doing });
  }
}

async function post(actor: Actor, office: PostOffice): Promise<void> {
  const message = introduce(actor, office);
  const path = '/ingest/file';
  const asked = await send(actor, message.marker, { method: 'POST', path, label: 'post', message });
  const parsed = asked.outcome.type === 'answer' ? documentView.safeParse(asked.outcome.json) : null;
  // Without an answer there may be a document of it, which the records tell.
  if (!parsed?.success) return;
  const id = parsed.data.external_id;
  office.posted.set(id, { id, removal: 'none', openAccess: 0 });
}

async function replace(actor: Actor, office: PostOffice, { id }: Posted): Promise<void> {
  const message = introduce(actor, office);
  const path = `/documents/${id}/content`;
  await send(actor, id, { method: 'PUT', path, label: `replace by ${message.marker}`, message });
}

function introduce({ arena, name, random }: Actor, office: PostOffice): Message {
  const message = writeMessage(random, arena.world.nextMarker());
  const access = { readers: [NEIGHBOUR], writers: [] };
  arena.world.introduce(message, { owner: name, content: message, key: '', access, metadata: 0 });
  office.messages.set(message.sha256, message);
  return message;
}

async function changeAccess(actor: Actor, mail: Posted): Promise<void> {
  mail.openAccess += 1;
  const json = accessFor(actor.random.chance(0.5));
  const path = `/documents/${mail.id}`;
  const { outcome } = await send(actor, mail.id, { method: 'PATCH', path, label: 'access', json });
  if (outcome.type === 'answer' && outcome.status < 300) mail.openAccess -= 1;
}

export const accessFor = (isOpen: boolean) => ({
  access_control: { readers: isOpen ? [POSTMASTER, NEIGHBOUR] : [POSTMASTER] },
});

async function remove(actor: Actor, mail: Posted): Promise<void> {
  mail.removal = 'asked';
  const path = `/documents/${mail.id}`;
  const { outcome } = await send(actor, mail.id, { method: 'DELETE', path, label: 'delete' });
  if (outcome.type === 'answer' && outcome.status === 200) mail.removal = 'done';
}

interface Sending {
  readonly method: string;
  readonly path: string;
  readonly label: string;
  readonly json?: unknown;
  readonly message?: Message;
}

async function send(actor: Actor, about: string, sending: Sending): Promise<TimedOutcome> {
  const { message, label, ...request } = sending;
  const form = message && formOf(message);
  const waits = patience(actor);
  const asked = await ask(actor, {
    ...request,
    ...waits,
    ...(form && { form }),
    about,
    label: `mail ${label}`,
  });
  const { outcome } = asked;
  // Another actor of the same caller may have removed or cancelled it meanwhile.
  if (outcome.type === 'answer' && ![200, 202, 404, 409, 503].includes(outcome.status))
    actor.arena.history.violate(
      'a change of a message is taken',
      `${label}: ${String(outcome.status)} ${outcome.text.slice(0, 200)}`,
      about,
    );
  return asked;
}

function formOf({ bytes, filename }: Message): FormData {
  const form = new FormData();
  form.set('file', new Blob([new Uint8Array(bytes)]), filename ?? undefined);
  return form;
}
