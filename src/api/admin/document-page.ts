import type { RequestHandler } from 'express';
import { NotFoundError } from '../../shared/errors.js';
import { sendJson } from '../http/response/send-json.js';
import { requestFacts } from '../http/logging/request-facts.js';
import type { DocumentInspection, InspectDocument } from '../services/documents/document-inspection.js';
import { html, sendPage, type Html } from './html.js';
import { viewInspection } from './inspection-view.js';

export interface DocumentPageOptions {
  readonly inspect: InspectDocument;
  readonly adminPath: string;
}

/** Shows everything about a document except its content, as a page or, for clients that accept it, as JSON. */
export function createDocumentPage({
  inspect,
  adminPath,
}: DocumentPageOptions): RequestHandler<{ id: string }> {
  return async (request, response) => {
    requestFacts(request).route = '/admin/documents/{document_id}';
    const document = await inspect(request.params.id);
    if (!document) throw new NotFoundError('Document not found');
    if (request.accepts(['json', 'html']) === 'html') {
      sendPage(response, 200, { title: 'Document', body: page(document, adminPath) });
    } else {
      sendJson(response, 200, viewInspection(document));
    }
  };
}

function page(document: DocumentInspection, adminPath: string): Html {
  const { generations, jobs } = document;
  return html`<p><a href="${adminPath}/queues">Queues</a></p>
    <section class="card">
      <h1>Document</h1>
      ${table(facts(document))}
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
          : table(jobs.map(({ queue, id, state }) => [state, jobLink(adminPath, queue, id)]))
      }
    </section>`;
}

type Rows = readonly (readonly [string | Html, string | Html])[];

function facts(document: DocumentInspection): Rows {
  const { error } = document;
  return [
    ['Id', html`<code>${document.documentId}</code>`],
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

const jobLink = (adminPath: string, queue: string, id: string) =>
  html`<a href="${adminPath}/queues/queue/${queue}/${encodeURIComponent(id)}"><code>${id}</code></a>`;

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
