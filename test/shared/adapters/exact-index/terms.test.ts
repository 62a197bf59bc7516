import { createExactIndex } from '../../../../src/shared/adapters/exact-index/exact-index.js';
import { describeTermSearch } from '../../../contracts/terms-contract.js';

describeTermSearch('exact', (redisUrl) => createExactIndex({ redisUrl }));
