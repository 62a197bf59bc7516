import { createHash } from 'node:crypto';
import type { Request, Response } from 'express';
import { at } from '../../shared/at.js';

/** Markup that can be inserted into a page without escaping. */
export interface Html {
  readonly html: string;
}

type Value = string | number | null | Html | readonly Html[];

/** Makes markup from a template. Values are escaped, unless they are markup themselves. */
export function html(parts: TemplateStringsArray, ...values: readonly Value[]): Html {
  return { html: parts.map((part, i) => (i === 0 ? part : toHtml(at(values, i - 1)) + part)).join('') };
}

function toHtml(value: Value): string {
  if (value === null) return '';
  if (typeof value === 'string' || typeof value === 'number') return escapeText(String(value));
  if ('html' in value) return value.html;
  return value.map(toHtml).join('');
}

const escapers = [
  [/&/g, '&amp;'],
  [/</g, '&lt;'],
  [/>/g, '&gt;'],
  [/"/g, '&quot;'],
  [/'/g, '&#39;'],
] as const;

function escapeText(text: string): string {
  return escapers.reduce((escaped, [character, entity]) => escaped.replace(character, entity), text);
}

const style = `
:root { color-scheme: light dark; --ink: #1c2430; --dim: #5d6878; --line: #d9dee6; --back: #f4f6f9; --card: #fff; --key: #2f5bd0; --mark: #ffe27a; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6eaf0; --dim: #98a3b3; --line: #313946; --back: #151a21; --card: #1d232c; --key: #7fa2ff; --mark: #6a5200; }
}
* { box-sizing: border-box; }
body { margin: 0; min-height: 100vh; background: var(--back); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif; }
main { max-width: 46rem; margin: 0 auto; padding: 3rem 1.25rem; }
main.narrow { max-width: 26rem; padding-top: 16vh; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 1.75rem; }
.card + .card { margin-top: 1.25rem; }
h1 { font-size: 1.25rem; margin: 0 0 .35rem; }
h2 { font-size: .8rem; margin: 0 0 .6rem; color: var(--dim); text-transform: uppercase; letter-spacing: .06em; }
p { margin: 0 0 1rem; color: var(--dim); }
label { display: block; font-weight: 600; margin-bottom: .35rem; }
input { width: 100%; padding: .6rem .7rem; font: inherit; color: inherit; background: var(--back); border: 1px solid var(--line); border-radius: 6px; }
input:focus-visible, button:focus-visible, a:focus-visible { outline: 2px solid var(--key); outline-offset: 2px; }
button { margin-top: 1rem; width: 100%; padding: .6rem; font: inherit; font-weight: 600; color: var(--card); background: var(--key); border: 0; border-radius: 6px; cursor: pointer; }
input.check { width: auto; }
form + form { margin-top: 1.25rem; }
button.plain { color: var(--ink); background: transparent; border: 1px solid var(--line); }
.problem { color: #c0392b; font-weight: 600; }
@media (prefers-color-scheme: dark) { .problem { color: #ff8a7a; } }
a { color: var(--key); }
table { width: 100%; border-collapse: collapse; }
th, td { text-align: left; vertical-align: top; padding: .35rem .75rem .35rem 0; border-top: 1px solid var(--line); }
tr:first-child > * { border-top: 0; }
th { width: 12rem; font-weight: 500; color: var(--dim); }
td { overflow-wrap: anywhere; font-variant-numeric: tabular-nums; }
mark { color: inherit; background: var(--mark); }
img { max-width: 100%; border: 1px solid var(--line); background: #fff; }
summary { cursor: pointer; color: var(--dim); }
nav { display: flex; justify-content: space-between; gap: 1rem; }
.text { margin: 0 0 1rem; white-space: pre-wrap; overflow-wrap: anywhere; }
.passage { padding-left: 1rem; border-left: 3px solid var(--key); }
.around { color: var(--dim); }
.notice { color: var(--ink); font-weight: 600; }
code { font: .9em ui-monospace, "Liberation Mono", Menlo, monospace; }
`;
const styleElement: Html = { html: `<style>${style}</style>` };
const styleHash = createHash('sha256').update(style).digest('base64');

/** A page that may show pictures would ask for an icon, which there is not. */
const NO_ICON = html`<link rel="icon" href="data:," />`;

/** Pages may use this style, send forms to ourselves and show pictures of ours if they have any, and nothing else. */
const policyOf = ({ hasPictures }: Page): string =>
  [
    `default-src 'none'`,
    `style-src 'sha256-${styleHash}'`,
    ...(hasPictures ? [`img-src 'self' data:`] : []),
    `form-action 'self'`,
    `base-uri 'none'`,
    `frame-ancestors 'none'`,
  ].join('; ');

export interface Page {
  readonly title: string;
  readonly body: Html;
  readonly narrow?: true;
  readonly hasPictures?: boolean;
}

/** Tells a browser from a program, which gets JSON. */
export const wantsPage = (request: Pick<Request, 'accepts'>): boolean =>
  request.accepts(['json', 'html']) === 'html';

export function sendPage(response: Response, status: number, page: Page): void {
  const text = pageText(page);
  response.set('Content-Security-Policy', policyOf(page)).status(status).type('html').send(text);
}

/** Returns the whole markup of a page. */
function pageText({ title, body, narrow, hasPictures }: Page): string {
  return html`<!DOCTYPE html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <title>${title} · Quire</title>
        ${hasPictures ? NO_ICON : null} ${styleElement}
      </head>
      <body>
        <main class="${narrow ? 'narrow' : 'wide'}">${body}</main>
      </body>
    </html> `.html;
}
