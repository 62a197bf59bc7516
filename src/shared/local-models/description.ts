import { z } from 'zod';

/** The purpose of a model. Models for chats may embed as well; models for vectors and ranking do nothing else. */
export const MODEL_KINDS = ['embedding', 'ranking', 'chat'] as const;
export type ModelKind = (typeof MODEL_KINDS)[number];

/** The description of a model by the models process, at `GET /v1/models/{model}`. */
export const modelDescriptionSchema = z.object({
  /** The file name. */
  id: z.string(),
  object: z.literal('model'),
  created: z.int(),
  owned_by: z.string(),
  fingerprint: z.string(),
  /** The name that the file gives itself. */
  name: z.string(),
  kind: z.enum(MODEL_KINDS),
  architecture: z.string(),
  dimensions: z.int().positive(),
  /** Tokens that a request may have, answer included: the window that the model was trained for, or less by the settings. */
  window: z.int().positive(),
  size_bytes: z.int().positive(),
});
export type ModelDescription = z.infer<typeof modelDescriptionSchema>;
