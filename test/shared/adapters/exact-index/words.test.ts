import { createExactIndex } from '../../../../src/shared/adapters/exact-index/exact-index.js';
import { describeWordIndex } from '../../../contracts/words-contract.js';

describeWordIndex('exact', (redisUrl) => createExactIndex({ redisUrl }));
