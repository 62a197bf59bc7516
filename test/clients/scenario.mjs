/* global Blob, File */
// The same steps in every runtime. They say what they saw.
export async function runScenario({ Quire, QuireError }, { url, token, path }) {
  const quire = new Quire({ url, token });
  const seen = {};
  const text = await quire.ingest.text('A heron stands in the reeds.', { metadata: { n: 1 } });
  seen.text = text.ready;
  const sources = [new File(['A crane dances.'], 'crane ü.txt'), new Blob(['A stork clatters.']).stream()];
  if (path !== null) sources.push(path);
  seen.files = [];
  seen.sent = [];
  for (const source of sources) {
    const onProgress = ({ sent, total }) => seen.sent.push([sent, total]);
    const { value } = await quire.ingest.file(source, { metadata: { n: 2 }, onProgress });
    seen.files.push([value.filename, value.system_metadata.status]);
  }
  const outcomes = await quire.ingest.files([new File(['An egret.'], 'egret.txt')], { metadata: { n: 3 } });
  seen.outcomes = outcomes.value.map(({ status }) => status);
  const chunks = await quire.search.chunks({ query: 'heron', filters: { n: 1 }, k: 1 });
  seen.chunk = chunks[0].content;
  const answer = await quire.ask({ query: 'Where does a heron stand?', k: 1 }).answer();
  seen.answer = answer.completion.includes('reeds');
  const parts = [];
  for await (const part of quire.ask({ query: 'Where does a heron stand?', k: 1 })) parts.push(part);
  seen.streamed = parts.at(-1).sources.length;
  seen.listed = [];
  for await (const { metadata } of quire.documents.list({ filters: { n: { $lt: 3 } } }))
    seen.listed.push(metadata.n);
  const download = await quire.documents.download(text.value.external_id);
  seen.download = await download.text();
  const error = await quire.documents.get('unknown').catch((caught) => caught);
  seen.error = [error instanceof QuireError, error.status, error.detail, error.requestId !== null];
  const controller = new AbortController();
  const aborted = quire.documents.get(text.value.external_id, { signal: controller.signal });
  controller.abort(new Error('enough'));
  seen.aborted = await aborted.catch(({ message }) => message);
  const late = await quire.usage.stats({ timeout: 0 }).catch((caught) => caught);
  seen.late = late instanceof QuireError && late.status === null;
  return seen;
}
