import { execFile, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { pagesPdf } from '../support/pdfs.js';
import { EVERYDAY } from '../support/shared/environments.js';
import { useService } from '../support/shared/use-service.js';

const service = useService({ env: EVERYDAY });
const PYTHON = process.env['QUIRE_TEST_PYTHON'] ?? 'python3';

/** The files of the page, each by its name. */
const files = new Map(
  [
    ...readFileSync('docs/how-to/use-from-python.md', 'utf8').matchAll(
      /^```python\n("""(\w+\.py): [^]*?)^```/gm,
    ),
  ].map(([, code = '', name = '']) => [name, code] as const),
);

const ASK = `import json, sys
url, token = sys.argv[1:]
filters = {"topic": "birds"}
`;
const FRAMEWORKS = [
  {
    module: 'langchain_core',
    file: 'quire_langchain.py',
    use: `from quire_langchain import QuireRetriever
retriever = QuireRetriever(url=url, token=token, k=2, filters=filters)
found = [[each.page_content, each.metadata, each.id] for each in retriever.invoke("heron")]
assert token not in repr(retriever)`,
  },
  {
    module: 'llama_index.core',
    file: 'quire_llama_index.py',
    use: `from quire_llama_index import QuireRetriever
nodes = QuireRetriever(url=url, token=token, k=2, filters=filters).retrieve("heron")
assert 0 < nodes[0].score <= 1
found = [[each.node.text, each.node.metadata, each.node.node_id] for each in nodes]`,
  },
  {
    module: 'haystack',
    file: 'quire_haystack.py',
    // Haystack makes components of modules that it trusts.
    use: `import os
os.environ["HAYSTACK_DESERIALIZATION_ALLOWLIST"] = "quire_haystack"
from haystack import Pipeline
from haystack.utils import Secret
from quire_haystack import QuireRetriever
os.environ["QUIRE_TOKEN"] = token
pipeline = Pipeline()
pipeline.add_component("quire", QuireRetriever(url=url, token=Secret.from_env_var("QUIRE_TOKEN"), filters=filters))
again = Pipeline.loads(pipeline.dumps())
assert token not in pipeline.dumps()
documents = again.run({"quire": {"query": "heron", "top_k": 2}})["quire"]["documents"]
assert 0 < documents[0].score <= 1
found = [[each.content, each.meta, each.id] for each in documents]`,
  },
];

async function runPython(code: string, file: string, args: readonly string[]): Promise<unknown> {
  const folder = await mkdtemp(join(tmpdir(), 'quire-python-'));
  try {
    await writeFile(join(folder, file), files.get(file) ?? '');
    await writeFile(join(folder, 'main.py'), `${ASK}${code}\nprint(json.dumps(found))\n`);
    const stdout = await new Promise<string>((done, fail) => {
      execFile(PYTHON, ['main.py', ...args], { cwd: folder }, (error, out, stderr) => {
        if (error === null) done(out);
        else fail(new Error(`${error.message}\n${stderr}`));
      });
    });
    return JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '');
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

describe('the retriever in Python', () => {
  for (const { module, file, use } of FRAMEWORKS) {
    const isThere = spawnSync(PYTHON, ['-c', `import ${module}`]).status === 0;
    if (!isThere)
      process.stderr.write(`${file} is skipped: ${PYTHON} (QUIRE_TEST_PYTHON) has no ${module}\n`);
    (isThere ? test : test.skip)(`${file} finds passages, with their places`, async () => {
      const alice = service.client(file);
      const pdf = pagesPdf([['A heron stands.'], ['A goose swims.']]);
      const form = new FormData();
      form.set('file', new Blob([pdf.slice()]), 'birds.pdf');
      form.set('metadata', '{"topic": "birds"}');
      const { body } = await alice.send<{ external_id: string }>('POST', '/ingest/file', { body: form });
      await alice.ingestText('A heron of another topic.');
      const token = alice.authorization.replace('Bearer ', '');
      const id = body.external_id;
      const metadata = { topic: 'birds', document_id: id, chunk_number: 0, source: 'birds.pdf', page: 1 };
      expect(await runPython(use, file, [service.url, token])).toEqual([
        [expect.stringContaining('A heron stands.'), expect.objectContaining(metadata), `${id}-0`],
      ]);
    });
  }

  test('is one file for each framework, of at most sixty lines of code', () => {
    expect([...files.keys()].sort()).toEqual(FRAMEWORKS.map(({ file }) => file).sort());
    for (const code of files.values())
      expect(code.split('\n').filter((line) => line.trim() !== '').length).toBeLessThanOrEqual(60);
  });
});
