import { createExactIndex } from '../../../../src/shared/adapters/exact-index/exact-index.js';
import { describeWordSearch } from '../../../contracts/words-contract.js';

describeWordSearch('exact', (redisUrl) => createExactIndex({ redisUrl }));
