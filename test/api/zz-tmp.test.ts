import { test } from '@jest/globals';
import { startDocumentApi } from '../support/document-api.js';
import { randomUUID } from 'node:crypto';
test('measure', async () => {
  const api = await startDocumentApi({ waitSeconds: 0 });
  const run = async (name: string, f: () => Promise<unknown>) => {
    let n = 0; const t = performance.now(); const c0 = process.cpuUsage();
    await Promise.all(Array.from({ length: 16 }, async () => { while (n < 600) { n += 1; await f(); } }));
    const c = process.cpuUsage(c0);
    console.log(name, Math.round(600 / ((performance.now() - t) / 1000)), 'per s; cpu ms', ((c.user + c.system) / 600e3).toFixed(2));
  };
  const content = { version: 1, kind: 'text' as const, contentType: 'text/plain', filename: null, storageKey: 'a/b', sizeBytes: 1, sha256: 'x', createdAt: new Date().toISOString(), generation: null, chunkCount: 0, tokenCount: 0 };
  await run('jobs.addIngest', () => api.jobs.addIngest({ documentId: randomUUID(), version: 1, attempt: 1 }, 'r'));
  await run('records.create', () => api.records.create({ id: randomUUID(), ownerId: 'a', createdAt: content.createdAt, updatedAt: content.createdAt, readers: ['a'], writers: ['a'], admins: ['a'], metadata: {}, version: 1, attempt: 1, status: 'queued', stage: 'queued', progress: 0, error: null, published: null, pending: content, operation: null, retag: 0, revision: 1 }));
  await run('http 404', async () => { await (await fetch(`${api.url}/nothing`)).text(); });
  await api.close();
}, 120000);
