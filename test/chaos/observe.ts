import { documentView, type DocumentView } from '../../src/api/routes/document-view.js';
import type { Arena } from './arena.js';
import { exists, type ModelDocument } from './world.js';

interface Observation {
  readonly document: ModelDocument;
  readonly label: string;
  readonly start: number;
  readonly end: number;
}

/** Compares a document as it was shown with the states that it may have then. @returns null for a body that is none */
export function observe(
  { history }: Pick<Arena, 'history'>,
  body: unknown,
  { document, label, start, end }: Observation,
): DocumentView | null {
  const violate = (promise: string, detail: string) => {
    history.violate(promise, `${label}: ${detail}`, document.id);
  };
  const parsed = documentView.safeParse(body);
  if (!parsed.success) {
    violate('a document is shown whole', parsed.error.message.slice(0, 300));
    return null;
  }
  const view = parsed.data;
  if (view.external_id !== document.id) violate('who asks for a document gets that', view.external_id);
  if (exists(document, { start, end }) === 'never') violate('what was deleted is not seen again', 'shown');
  const { metadata, access_control: access, system_metadata: system } = view;
  if (
    metadata['key'] !== document.key ||
    !document.metadata.possible(start, end).some((n) => n === metadata['n'])
  )
    violate('metadata is what was written last', JSON.stringify(metadata));
  const lists = document.access.possible(start, end);
  const isPossible = lists.some(
    ({ readers, writers }) =>
      sameMembers(access.readers, [document.owner, ...readers]) &&
      sameMembers(access.writers, [document.owner, ...writers]),
  );
  if (!isPossible) violate('access is what was written last', JSON.stringify(access));
  observeVersions(violate, document, { system, start, end });
  return view;
}

function observeVersions(
  violate: (promise: string, detail: string) => void,
  document: ModelDocument,
  { system, start, end }: { system: DocumentView['system_metadata']; start: number; end: number },
): void {
  const { version, published_version: published, content_sha256: digest } = system;
  const shown = document.contents.writes.find(({ value }) => value.sha256 === digest);
  if (!shown || shown.outcome === 'undone') violate('a document shows content that was put into it', digest);
  else if (published !== null && !document.publishedAt.has(shown.value))
    document.publishedAt.set(shown.value, end);
  const earlier = document.seen.filter(({ tick }) => tick < start);
  const versions = { version, published: published ?? 0, tick: end };
  if (earlier.some((each) => each.version > version || each.published > versions.published))
    violate('versions only grow', JSON.stringify({ earlier: earlier.at(-1), now: versions }));
  document.seen.push(versions);
}

function sameMembers(some: readonly string[], others: readonly string[]): boolean {
  const [one, other] = [new Set(some), new Set(others)];
  return one.size === other.size && [...one].every((each) => other.has(each));
}
