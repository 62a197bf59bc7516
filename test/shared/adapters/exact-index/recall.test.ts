import { createExactIndex } from '../../../../src/shared/adapters/exact-index/exact-index.js';
import { describeRecall } from '../../../contracts/recall-contract.js';

describeRecall('the exact index', async (redisUrl) => ({ exact: await createExactIndex({ redisUrl }) }));
