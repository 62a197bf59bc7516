import type { Request, Response } from 'express';
import type { Caller } from './auth.js';

/** Counts a request of a caller. @throws AppError 429 when it was one too many */
export type RateLimit = (caller: Caller, request: Request, response: Response) => Promise<void>;
