import { z } from 'zod';
import { addItem } from '../../http/validation/validation-errors.js';

/** A field of OpenAI that clients send and that changes nothing here. */
export const withoutEffect = z
  .unknown()
  .optional()
  .meta({
    override: { description: 'Taken from clients of OpenAI, and without effect.' },
  });

/** A field that may have the values that ask for what is done anyway. Any other is refused, since its client relies on it. */
export const onlyByDefault = (isDefault: (value: unknown) => boolean, reason: string) =>
  z
    .unknown()
    .optional()
    .superRefine((value, context) => {
      if (value === undefined || value === null || isDefault(value)) return;
      addItem(context, { loc: [], msg: reason, type: 'unsupported_parameter' });
    })
    .meta({ override: { description: `Refused unless it asks for what is done anyway: ${reason}.` } });
