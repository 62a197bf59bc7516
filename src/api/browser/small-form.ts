import type { Request, Response } from 'express';
import { continueBody, mediaTypeOf } from '../http/request/body.js';
import { HttpError } from '../http/http-error.js';
import type { BodyBudget } from '../http/request/body-budget.js';
import { readForm } from '../http/request/form.js';

const MAX_FORM_BYTES = 32 * 1024;

export interface FormOptions {
  readonly bodies: BodyBudget;
  readonly bodyGraceSeconds: number;
}

/**
 * Reads the fields of a form of our own pages.
 * @param holder whose share of the memory for bodies it takes
 * @throws HttpError 413, 415
 */
export async function readSmallForm(
  request: Request,
  response: Response,
  { bodies, bodyGraceSeconds: graceSeconds, holder }: FormOptions & { readonly holder: string },
): Promise<Record<string, string>> {
  if (mediaTypeOf(request) !== 'application/x-www-form-urlencoded') {
    throw new HttpError(415, 'Expected a form');
  }
  const onReading = () => {
    continueBody(request, response);
  };
  const claim = bodies.claim(holder);
  try {
    return await readForm(request, { maxBytes: MAX_FORM_BYTES, onReading, claim, graceSeconds });
  } catch (error) {
    if (error instanceof HttpError && error.status === 413) throw new HttpError(413, 'The form is too large');
    throw error;
  } finally {
    claim.release();
  }
}
