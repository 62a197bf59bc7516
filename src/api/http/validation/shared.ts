import { z } from 'zod';
import { SHARED } from '../../../shared/access/sharing.js';
import { optionalNull } from './field-schemas.js';

const DESCRIPTION =
  'Which documents of others are found: `all`, those `accepted`, or none (`own`); never those of blocked owners. Without it, ' +
  'the setting `search.shared` decides.';

export const sharedField = optionalNull(z.enum(SHARED)).describe(DESCRIPTION);
export const sharedParameter = z.enum(SHARED).optional().describe(DESCRIPTION);
