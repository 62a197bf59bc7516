import { makeToken } from './api.js';
import { ask, cookiesOf, type Answer, type AskOptions } from './ask.js';

/** The types that browsers accept. */
export const page = { Accept: 'text/html,application/xhtml+xml' };

export const adminToken = (claims = {}) =>
  makeToken({ entity_id: 'olga', permissions: ['admin'], ...claims });
export const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });

/** A form as a browser sends it. */
export const form = (fields: Record<string, string>, headers: Record<string, string>): AskOptions => ({
  method: 'POST',
  headers: { 'Content-Type': 'application/x-www-form-urlencoded', ...page, ...headers },
  body: new URLSearchParams(fields).toString(),
});

/** All cookies that answers set, as a browser sends them back. */
export function cookieHeader(...answers: Answer[]): string {
  const all = new Map(answers.flatMap((answer) => [...cookiesOf(answer)]));
  return [...all].map(([name, { value }]) => `${name}=${value}`).join('; ');
}

/** The hidden field of a page's form. */
export const csrfIn = (answer: Answer) => /name="csrf" value="([^"]+)"/.exec(answer.text)?.[1] ?? '';

/** Loads the login page of a realm of the service at `url` and sends its form. */
export async function login(
  url: string,
  token: string,
  {
    next = '',
    headers = {},
    realm = 'admin',
  }: { next?: string; headers?: Record<string, string>; realm?: 'admin' | 'view' } = {},
) {
  const shown = await ask(`${url}/${realm}/login?next=${encodeURIComponent(next)}`, { headers: page });
  const answer = await ask(
    `${url}/${realm}/login`,
    form({ token, csrf: csrfIn(shown), next }, { Cookie: cookieHeader(shown), Origin: url, ...headers }),
  );
  return { shown, answer, cookie: cookieHeader(shown, answer) };
}

/** Loads the queue board, which brings the token for its writes. */
export async function openBoard(url: string, cookie?: string) {
  const board = await ask(`${url}/admin/queues`, { headers: { ...page, ...(cookie && { Cookie: cookie }) } });
  const csrf = cookiesOf(board).get('XSRF-TOKEN')?.value ?? '';
  return { cookie: cookie ?? cookieHeader(board), csrf, board };
}
