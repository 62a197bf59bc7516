import { isFinal } from '../../shared/document.js';
import { MAX_DEATHS } from '../../shared/queues/payloads.js';
import type { DocumentInspection } from '../services/documents/document-inspection.js';
import { html, type Html } from './html.js';

export interface PageParts {
  readonly adminPath: string;
  /** The token that its forms send. */
  readonly csrf: string;
}

/** Shows everything about a document except its content, and the actions of an operator on it. */
export function documentPage(document: DocumentInspection, { adminPath, csrf }: PageParts): Html {
  const { generations, jobs } = document;
  return html`<p><a href="${adminPath}/queues">Queues</a></p>
    <section class="card">
      <h1>Document</h1>
      ${table(facts(document))}
    </section>
    <section class="card">
      <h2>Actions</h2>
      ${actionsFor(document).map((action) => actionForm(action, { document, adminPath, csrf }))}
    </section>
    <section class="card">
      <h2>Generations</h2>
      ${
        generations.length === 0
          ? html`<p>None.</p>`
          : table(generations.map((each) => [html`<code>${each.id}</code>`, counts(each)]))
      }
    </section>
    <section class="card">
      <h2>Jobs of this attempt</h2>
      ${
        jobs.length === 0
          ? html`<p>The queues know none any more.</p>`
          : table(jobs.map((job) => [job.state, describeJob(adminPath, job)]))
      }
    </section>`;
}

/** The actions of an operator on a document. */
export const ACTIONS = ['retry', 'cancel', 'delete'] as const;
export type ActionName = (typeof ACTIONS)[number];

interface Action {
  readonly name: ActionName;
  readonly label: string;
  /** The effect of the action. */
  readonly effect: string;
}

function actionsFor({ status, attempt, published, filename }: DocumentInspection): Action[] {
  const kept = published === null ? 'Nothing of it was published.' : 'What is published stays.';
  const retry: Action = {
    name: 'retry',
    label: 'Retry',
    effect:
      `Its source is read again as attempt ${String(attempt + 1)}, in its owner's turn. Deaths of workers count anew: ` +
      `it fails again when ${String(MAX_DEATHS)} workers die of it.`,
  };
  const cancel: Action = { name: 'cancel', label: 'Cancel', effect: `The attempt under way ends. ${kept}` };
  const remove: Action = {
    name: 'delete',
    label: 'Delete',
    effect: `${filename ?? 'The document'} is removed for good, with its source, its chunks and the documents of its attachments.`,
  };
  const canRetry = status === 'failed' || status === 'cancelled';
  return [...(canRetry ? [retry] : []), ...(isFinal({ status }) ? [] : [cancel]), remove];
}

function actionForm(
  { name, label, effect }: Action,
  { document, adminPath, csrf }: PageParts & { readonly document: DocumentInspection },
): Html {
  return html`<form
    method="post"
    action="${adminPath}/documents/${encodeURIComponent(document.documentId)}/${name}"
  >
    <input type="hidden" name="csrf" value="${csrf}" />
    <p>${effect}</p>
    ${
      name === 'delete'
        ? html`<label><input class="check" type="checkbox" required /> I want it deleted</label>`
        : null
    }
    <button type="submit" class="${name === 'delete' ? 'plain' : 'wanted'}">${label}</button>
  </form>`;
}

type Rows = readonly (readonly [string | Html, string | Html])[];

function facts(document: DocumentInspection): Rows {
  const { error } = document;
  return [
    ['Id', html`<code>${document.documentId}</code>`],
    ['File name', document.filename ?? 'none'],
    ['Owner', document.ownerId],
    ['Status', `${document.status}${document.stage === document.status ? '' : `, ${document.stage}`}`],
    ['Progress', `${String(Math.round(document.progress * 100))} %`],
    ['Error', error === null ? 'none' : `${error.code}, while ${error.stage}`],
    ['Version', `${String(document.version)}, attempt ${String(document.attempt)}`],
    ['Published', describeVersion(document.published)],
    ['Pending', describeVersion(document.pending)],
    ['Tags', document.retagging ? 'being rewritten' : 'up to date'],
    ['Created', document.createdAt],
    ['Updated', document.updatedAt],
    ['Ingest started', document.ingestStartedAt ?? 'none is running'],
  ];
}

const describeVersion = (content: DocumentInspection['published']) =>
  content === null
    ? 'none'
    : `version ${String(content.version)} of ${content.createdAt}: ${counts(content)}`;

const counts = ({ chunkCount, tokenCount }: { chunkCount: number; tokenCount: number }) =>
  `${String(chunkCount)} chunks, ${String(tokenCount)} tokens`;

type ShownJob = DocumentInspection['jobs'][number];

const describeJob = (adminPath: string, { queue, id, waits }: ShownJob) =>
  html`<a href="${adminPath}/queues/queue/${queue}/${encodeURIComponent(id)}"><code>${id}</code></a>
    ${waits === null ? null : html`<br />waits: ${waits}`}`;

function table(rows: Rows): Html {
  return html`<table>
    ${rows.map(
      ([name, value]) =>
        html`<tr>
          <th scope="row">${name}</th>
          <td>${value}</td>
        </tr>`,
    )}
  </table>`;
}
