import type { Location } from '../../readers/index.js';
import type { StoredChunk } from '../../shared/chunks/fields.js';
import { placeOfPart } from '../../shared/chunks/spots.js';
import { shownContent, type DocumentRecord } from '../../shared/document.js';
import { writeHighlight } from '../../shared/page-pictures/highlight.js';
import { html, type Html, type Page } from '../browser/html.js';
import { viewUrlOf } from '../services/retrieval/sources.js';
import type { ShownPassages } from './passages.js';

interface PageParts {
  /** The path at which browsers see the service: empty, or a prefix. */
  readonly prefix: string;
  /** The caller, who may be somebody else than the one who looks for the passage. */
  readonly callerId: string;
}

/** Shows a passage of a document, the one before it and the one after it, and where it stands. Texts and names are data. */
export function passagePage(shown: ShownPassages, { prefix, callerId }: PageParts): Page {
  const { record, passage } = shown;
  const name = nameOf(record);
  const picture = passage && pictureOf(shown, passage, { prefix, name });
  const body = html`<section class="card">
      <h1><bdi>${name}</bdi></h1>
      ${facts(shown)}
      <p><a href="${prefix}/view/${record.id}/download">Download</a></p>
    </section>
    <section class="card">
      <h2>${shown.quote ? 'Quote' : 'Passage'}</h2>
      ${notice(shown)} ${passage && passageParts(shown, passage, prefix)}
    </section>
    ${picture}
    <p>Shown to <bdi>${callerId}</bdi>. <a href="${prefix}/view/login">Sign in or out</a></p>`;
  return { title: name, body, hasPictures: picture !== null };
}

function nameOf(record: DocumentRecord): string {
  const { filename, extraction } = shownContent(record);
  return filename ?? extraction?.title ?? 'Text';
}

function notice({ record: { status }, passage, isChanged }: ShownPassages): Html | null {
  if (isChanged && passage)
    return html`<p class="notice" role="status">
      The document has changed: what the link leads to is no longer in it.
      ${passage.number === 0 ? 'It is shown from its beginning.' : 'The passage is shown as it is now.'}
    </p>`;
  if (passage) return null;
  const words =
    status === 'failed' || status === 'cancelled'
      ? `Nothing of this document can be shown: reading it was ${status === 'failed' ? 'not possible' : 'cancelled'}.`
      : 'There is no text of this document yet, or it has none.';
  return html`<p class="notice" role="status">${words}</p>`;
}

/** The text around a passage begins and ends where the passage does not repeat it. */
function passageParts(
  { record, before, after, quote }: ShownPassages,
  passage: StoredChunk,
  prefix: string,
): Html {
  const { text } = passage;
  const linkTo = ({ number: chunkNumber }: StoredChunk, name: string) =>
    html`<a href="${viewUrlOf({ documentId: record.id, chunkNumber }, { baseUrl: prefix })}">${name}</a>`;
  const marked = quote
    ? html`${text.slice(0, quote.start)}<mark>${text.slice(quote.start, quote.end)}</mark>${text.slice(quote.end)}`
    : html`${text}`;
  const repeated = text.slice(0, passage.overlap);
  const isRepeated = repeated !== '' && before?.text.endsWith(repeated) === true;
  return html`${
      before &&
      html`<details>
        <summary>The text before it</summary>
        <div class="text around" dir="auto">
          ${before.text.slice(0, before.text.length - (isRepeated ? repeated.length : 0))}
        </div>
      </details>`
    }
    <blockquote class="text passage" dir="auto">${marked}</blockquote>
    ${after && html`<div class="text around" dir="auto">${after.text.slice(after.overlap)}</div>`}
    <nav aria-label="Parts of the document">
      <span>${before && linkTo(before, 'Previous part')}</span>
      <span>${after && linkTo(after, 'Next part')}</span>
    </nav>`;
}

/** Shows what is known of the document and of the place of the passage. */
function facts({ record, passage, quote }: ShownPassages): Html {
  const { chunkCount, filename, extraction } = shownContent(record);
  const title = extraction?.title ?? null;
  const rows: readonly Fact[] = [
    ...(title === null || filename === null ? [] : ([['Title', title]] as const)),
    ['Owner', record.ownerId],
    ...(passage ? ([['Part', `${String(passage.number + 1)} of ${String(chunkCount)}`]] as const) : []),
    ...(passage ? placeFacts(passage, quote) : []),
  ];
  return html`<table>
    ${rows.map(
      ([name, value]) =>
        html`<tr>
          <th scope="row">${name}</th>
          <td><bdi>${value}</bdi></td>
        </tr>`,
    )}
  </table>`;
}

type Fact = readonly [name: string, value: string];

/** Tells where the quote stands, or else the passage, as far as the format tells. */
function placeFacts(passage: StoredChunk, quote: ShownPassages['quote']): Fact[] {
  const location: Location = passage.location ?? {};
  const { page, slide, rows, line } = quote ? placeOfPart(passage, quote) : {};
  const places: readonly (readonly [name: string, value: string | undefined])[] = [
    ['Chapter', location.chapter],
    ['Section', passage.section.length === 0 ? undefined : passage.section.join(' › ')],
    ['Message', location.message === undefined ? undefined : String(location.message)],
    ['Page', wordsOf(page, location.pages)],
    ['Slide', wordsOf(slide, location.slides)],
    ['Sheet', location.sheet],
    ['Row', wordsOf(undefined, rows ?? location.rows)],
    ['Line', wordsOf(line, location.lines)],
  ];
  return places.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]));
}

function wordsOf(exact: number | undefined, span: Location['pages']): string | undefined {
  if (exact !== undefined) return String(exact);
  if (!span) return undefined;
  const { first, last } = span;
  return first === last ? String(first) : `${String(first)} to ${String(last)}`;
}

/** Shows the page that the passage stands on, with the quote marked; null where the file has no pages. */
function pictureOf(
  { record, quote }: ShownPassages,
  passage: StoredChunk,
  { prefix, name }: { readonly prefix: string; readonly name: string },
): Html | null {
  const pages = passage.location?.pages;
  if (!pages) return null;
  const page = (quote ? placeOfPart(passage, quote).page : undefined) ?? pages.first;
  const highlight = writeHighlight({ chunk: passage.number, part: quote });
  const url = `${prefix}/view/${record.id}/pages/${String(page)}.png?highlight=${highlight}`;
  const marked = quote ? 'the quote' : 'the passage';
  return html`<section class="card">
    <h2>Page ${page}</h2>
    <a href="${url}"><img src="${url}" alt="Page ${page} of ${name}, with ${marked} marked" /></a>
  </section>`;
}
