import { describeRecall } from '../../../contracts/recall-contract.js';
import { startQueryEngine } from '../../../support/query-engine-server.js';
import { describeWithQueryEngine, openQueryEngineIndex } from '../../../support/query-engine.js';
import { WORLD_MODEL } from '../../../support/search-world.js';

describeWithQueryEngine('the Query Engine', (engine) => {
  const { model, dimensions: length } = WORLD_MODEL;
  const dimensions = () => Promise.resolve(length);
  describeRecall(
    'FLAT and HNSW',
    async (url) => ({
      flat: await openQueryEngineIndex(url, { model, dimensions }),
      hnsw: await openQueryEngineIndex(url, {
        model,
        dimensions,
        algorithm: { name: 'hnsw', m: 16, efConstruction: 200 },
        // As the service has it for these vectors.
        efRuntime: null,
      }),
    }),
    () => startQueryEngine(engine),
  );
});
