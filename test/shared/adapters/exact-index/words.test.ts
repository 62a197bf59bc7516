import { createExactIndex } from '../../../../src/shared/adapters/exact-index/exact-index.js';
import { describeWordIndex } from '../../../contracts/words-contract.js';

describeWordIndex('exact', (redisUrl) => createExactIndex({ redisUrl }));
describeWordIndex('exact, with vectors made of terms', (redisUrl) =>
  createExactIndex({ redisUrl, held: 'of-terms' }),
);
