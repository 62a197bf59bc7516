import { describeIndexContract } from '../../../contracts/index-contract.js';
import { startQueryEngine } from '../../../support/query-engine-server.js';
import { describeWithQueryEngine, openQueryEngineIndex } from '../../../support/query-engine.js';

describeWithQueryEngine('the contract of an index', (engine) => {
  const start = () => startQueryEngine(engine);
  describeIndexContract('query-engine, flat', (url) => openQueryEngineIndex(url), start);
  describeIndexContract(
    'query-engine, hnsw',
    (url) => openQueryEngineIndex(url, { algorithm: { name: 'hnsw', m: 16, efConstruction: 200 } }),
    start,
  );
});
