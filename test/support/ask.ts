import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';

export interface AskOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
}

/** As fetch, but sends the headers as they are given, those of browsers (`Host`, `Origin`, `Cookie`) too. */
export async function ask(
  url: string,
  { method = 'GET', headers = {}, body }: AskOptions = {},
): Promise<Answer> {
  const sent = request(url, { method, headers, agent: false });
  sent.end(body);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  let text = '';
  for await (const part of response.setEncoding('utf8')) text += String(part);
  return { status: response.statusCode ?? 0, headers: response.headers, text };
}

/** The cookies that an answer sets: attributes in lower case, by name. */
export function cookiesOf({ headers }: Answer): Map<string, { value: string; attributes: string[] }> {
  return new Map(
    (headers['set-cookie'] ?? []).map((cookie) => {
      const [pair = '', ...attributes] = cookie.split('; ');
      const at = pair.indexOf('=');
      const lower = attributes.map((each) => each.toLowerCase());
      return [pair.slice(0, at), { value: pair.slice(at + 1), attributes: lower }] as const;
    }),
  );
}
