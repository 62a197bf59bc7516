import type {
  AttachmentLimits,
  Box,
  FileFormat,
  KeptAttachment,
  ReadOptions,
  Receipt,
} from '../../readers/index.js';
import type { FailureCode } from '../../shared/errors.js';
import type { ChunkText } from '../../shared/chunks/fields.js';
import type { ChunkOptions } from '../chunking/chunk.js';

/** UTF-16 units of text in one message, so that a message does not block the event loop of the pool. */
export const BATCH_LENGTH = 256 * 1024;
/** The shortest time between two messages about the progress of a document. */
export const PROGRESS_MILLISECONDS = 500;

/** A task for a child: to parse the file at `path`, or to chunk `text`. */
export interface ParseTask {
  readonly id: number;
  readonly format: FileFormat;
  /** The name that the client gives the file. */
  readonly filename?: string | null | undefined;
  readonly options?: ReadOptions | undefined;
  /** True if compiled code is left out, because another child has crashed in it. */
  readonly avoidsNativeCode?: boolean | undefined;
  /** The limits of the files within it that are kept; none is kept when it is absent. */
  readonly attachments?: AttachmentLimits | undefined;
  readonly source: { readonly path: string } | { readonly text: string };
  readonly chunk: ChunkOptions;
}

/** A task for a child: to render a page of the file at `path` with rectangles marked, in points from its top left corner. */
export interface RenderTask {
  readonly id: number;
  readonly page: number;
  readonly boxes: readonly Omit<Box, 'page'>[];
  readonly source: { readonly path: string };
}

export type ChildTask = ParseTask | RenderTask;

/**
 * A message of a child. `progress` says which share of a document's parts is read. Several messages of `chunks` or `picture`,
 * which holds a part of a PNG in Base64, may come before `done`. A child says nothing of a task that is over.
 */
export type ChildMessage =
  | { readonly type: 'ready' }
  | { readonly type: 'progress'; readonly id: number; readonly share: number }
  | { readonly type: 'chunks'; readonly id: number; readonly chunks: readonly ChunkText[] }
  | { readonly type: 'picture'; readonly id: number; readonly part: string }
  | {
      readonly type: 'done';
      readonly id: number;
      /** Null for a picture. */
      readonly receipt: Receipt | null;
      /** Files in the child's folder, which the pool takes out of it. */
      readonly attachments: readonly KeptAttachment[];
      readonly residentBytes: number;
    }
  | {
      readonly type: 'failed';
      readonly id: number;
      readonly code: FailureCode;
      readonly message: string;
      readonly residentBytes: number;
    }
  | { readonly type: 'broken'; readonly id: number; readonly message: string };
