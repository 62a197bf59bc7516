import { describeWordIndex } from '../../../contracts/words-contract.js';
import { startQueryEngine } from '../../../support/query-engine-server.js';
import { describeWithQueryEngine, openQueryEngineIndex } from '../../../support/query-engine.js';
import { WORLD_MODEL } from '../../../support/search-world.js';

describeWithQueryEngine('the contract of an index that finds by words', (engine) => {
  const { model, dimensions } = WORLD_MODEL;
  describeWordIndex(
    'query-engine',
    (url) => openQueryEngineIndex(url, { model, dimensions: () => Promise.resolve(dimensions) }),
    () => startQueryEngine(engine),
  );
});
