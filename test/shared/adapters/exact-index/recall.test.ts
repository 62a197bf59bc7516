import { createExactIndex } from '../../../../src/shared/adapters/exact-index/exact-index.js';
import { describeRecall } from '../../../contracts/recall-contract.js';

describeRecall('exact', async (redisUrl) => ({
  'with stored vectors': await createExactIndex({ redisUrl }),
  'with vectors made of terms': await createExactIndex({ redisUrl, held: 'of-terms' }),
}));
